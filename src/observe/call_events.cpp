// SPDX-License-Identifier: BSD-3-Clause
#include "observe/call_events.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "base/system_error.hpp"
#include "observe/node.hpp"
#include "observe/whole_file.hpp"

namespace urakata::observe {
namespace {

constexpr std::size_t kEntryBytes = 40;
constexpr std::size_t kFileBytes = sizeof(EventFile) + CallEvents::kMost * kEntryBytes;
static_assert(sizeof(EventFile) == 40, "python/urakata/report/events.py reads it");

std::uint64_t both(std::uint32_t low, std::uint32_t high) { return std::uint64_t{high} << 32U | low; }

std::uint16_t number_of_thread() {
  static std::atomic<std::uint16_t> threads{0};
  thread_local const std::uint16_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

Result<std::unique_ptr<CallEvents>> CallEvents::create(const std::string& directory, std::uint32_t rank,
                                                       std::uint32_t ranks) {
  static_assert(sizeof(Entry) == kEntryBytes);
  const std::string path = directory + "/events-" + std::to_string(rank) + ".bin";
  const std::string draft = draft_of(path);
  unlink(draft.c_str());
  void* const memory = map_new_file(draft, kFileBytes);
  if (memory == nullptr) return system_error("report: cannot write " + draft);
  std::unique_ptr<CallEvents> made(new CallEvents(memory));
  auto* const file = new (memory) EventFile{};
  std::memcpy(file->mark, kEventFileMark, sizeof file->mark);
  file->format = kEventFileFormat;
  file->rank = rank;
  file->ranks = ranks;
  file->most = kMost;
  file->realtime_minus_monotonic_ns = realtime_minus_monotonic_ns();
  if (std::rename(draft.c_str(), path.c_str()) == 0) return made;
  Error failure = system_error("report: cannot write " + path);
  unlink(draft.c_str());
  return failure;
}

CallEvents::~CallEvents() { munmap(memory_, kFileBytes); }

void CallEvents::add(const CallEvent& event) {
  Entry& entry = entries()[head().added.fetch_add(1, std::memory_order_relaxed) % kMost];
  const std::uint64_t words[] = {
      event.begin, event.end, both(event.record, event.communicator),
      both(event.number, static_cast<std::uint32_t>(event.peer)),
      both(static_cast<std::uint32_t>(event.tag), number_of_thread() | static_cast<std::uint32_t>(event.kind) << 16U)};
  for (unsigned i = 0; i < std::size(words); ++i) entry.words[i].store(words[i], std::memory_order_relaxed);
}

}  // namespace urakata::observe
