// SPDX-License-Identifier: BSD-3-Clause
#include "observe/call_profile.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "base/system_error.hpp"
#include "observe/call_events.hpp"
#include "observe/code.hpp"
#include "observe/node.hpp"
#include "observe/sum.hpp"
#include "observe/whole_file.hpp"

namespace urakata::observe {
namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<CallFileState>::is_always_lock_free);
static_assert(sizeof(CallFile) == 104 && sizeof(CallRecord) == 88, "python/urakata/report/calls.py reads them");

constexpr std::size_t kTextsAt = sizeof(CallFile) + CallProfile::kMost * sizeof(CallRecord);
constexpr std::size_t kSize = kTextsAt + CallProfile::kTexts;

std::uint64_t hash_of(const ProfileKey& key) {
  const auto number = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  std::uint64_t h = number(key.address) * 0x9e3779b97f4a7c15U;
  h ^= (number(key.python) ^ number(key.operation) << 7U) * 0xc2b2ae3d27d4eb4fU;
  return h ^ (h >> 29U);
}

}  // namespace

class CallProfile::ProfileSite {
 public:
  ProfileSite(const ProfileKey& key, CallProfile* profile, std::uint32_t number)
      : key_(key), number_(number), record_(profile->fill(number, key)) {}

  std::uint32_t number() const { return number_; }
  bool matches(const ProfileKey& key) const {
    return key.address == key_.address && key.operation == key_.operation && key.python == key_.python;
  }
  CallRecord& record() const { return record_; }

 private:
  ProfileKey key_;
  std::uint32_t number_;
  CallRecord& record_;
};

Result<std::unique_ptr<CallProfile>> CallProfile::create(const std::string& directory, const Rank& rank) {
  if (Status made = make_folder(directory); !made) return made.error();
  const std::string number = std::to_string(rank.rank), path = directory + "/calls-" + number + ".bin";
  const std::string summary = directory + "/rank-" + number + ".json",
                    events = directory + "/events-" + number + ".bin";
  if (Status ours = may_replace(path, kCallFileMark); !ours) return ours.error();
  if (Status ours = may_replace(summary, kReportMark); !ours) return ours.error();
  if (Status ours = may_replace(events, kEventFileMark); !ours) return ours.error();
  // A new file, so that a reader of an earlier run's file still has that one whole.
  const std::string draft = draft_of(path);
  unlink(draft.c_str());
  void* const memory = map_new_file(draft, kSize);
  if (memory == nullptr) return system_error("report: cannot write " + draft);
  std::unique_ptr<CallProfile> profile(new CallProfile(path, memory, rank));
  // These belong to an earlier run.
  unlink(summary.c_str());
  unlink(events.c_str());
  if (rename(draft.c_str(), path.c_str()) == 0) return profile;
  Error failure = system_error("report: cannot write " + path);
  unlink(draft.c_str());
  return failure;
}

CallProfile::CallProfile(std::string path, void* memory, const Rank& rank)
    : path_(std::move(path)), file_(rank.file), memory_(memory) {
  auto* const file = new (memory_) CallFile{};
  std::memcpy(file->mark, kCallFileMark, sizeof file->mark);
  file->format = kCallFileFormat;
  file->rank = rank.rank;
  file->ranks = rank.ranks;
  file->most = kMost;
  file->texts = kTextsAt;
  file->job = rank.job;
  file->realtime_minus_monotonic_ns = realtime_minus_monotonic_ns();
  file->pid = static_cast<std::uint32_t>(getpid());
  text({});
  file->host = text(host_name());
  file->program = text(rank.program);
  file->clock = text(clock_name());
  for (std::uint32_t i = 0; i < kMost; ++i) {
    auto* const record = new (records() + i) CallRecord{};
    record->least_ns.store(~std::uint64_t{0}, std::memory_order_relaxed);
  }
  records()[0].operation = text("(others)");
  file->records.store(1, std::memory_order_release);
  file->begin_ns = now_ns();
  file->end_ns.store(file->begin_ns, std::memory_order_relaxed);
}

CallProfile::~CallProfile() { munmap(memory_, kSize); }

CallRecord* CallProfile::records() const {
  return reinterpret_cast<CallRecord*>(static_cast<char*>(memory_) + sizeof(CallFile));
}

std::uint32_t CallProfile::text(std::string_view words) {
  char* const all = static_cast<char*>(memory_) + kTextsAt;
  const std::uint32_t used = head().text_bytes.load(std::memory_order_relaxed);
  words = words.substr(0, words.find('\0'));
  // A linear search, since there are few different texts: modules, operations.
  for (std::uint32_t at = 0; at < used; at += static_cast<std::uint32_t>(std::strlen(all + at)) + 1) {
    if (words == all + at) return at;
  }
  if (words.size() >= kTexts - used) return 0;
  words.copy(all + used, words.size());
  all[used + words.size()] = '\0';
  head().text_bytes.store(used + static_cast<std::uint32_t>(words.size()) + 1, std::memory_order_release);
  return used;
}

CallRecord& CallProfile::fill(std::uint32_t number, const ProfileKey& key) {
  if (number + 1 >= kMost) return records()[0];
  CallRecord& record = records()[number + 1];
  const CodePlace place = code_place(key.address, file_);
  const LockGuard held(lock_);
  record.operation = text(key.operation);
  record.module = text(place.module);
  record.symbol = text(place.symbol);
  record.offset = place.offset;
  record.symbol_offset = place.symbol_offset;
  if (key.python != nullptr) {
    record.python_file = text(key.python->file);
    record.python_function = text(key.python->function);
    record.python_line = key.python->line;
  }
  auto& records = head().records;
  records.store(std::max(records.load(std::memory_order_relaxed), number + 2), std::memory_order_release);
  return record;
}

CallRecord& CallProfile::record(const ProfileKey& key) {
  try {
    ProfileSite* const site = sites_.find(hash_of(key), key, this);
    return site != nullptr ? site->record() : records()[0];
  } catch (const std::bad_alloc&) {
    return records()[0];  // out of memory: the program's call must go on all the same
  }
}

void CallProfile::enter(const CallRecord& record, std::uint64_t begin) {
  head().since_ns.store(begin, std::memory_order_relaxed);
  head().inside.store(number_of(record) + 1, std::memory_order_relaxed);
}

void CallProfile::leave(CallRecord& to, std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) {
  const std::uint64_t ns = end - begin;
  observe::add(to.calls, 1);
  observe::add(to.ns, ns);
  if (bytes != kNotKnown) {
    observe::add(to.sized, 1);
    observe::add(to.bytes, bytes);
  }
  note_least(to.least_ns, ns);
  note_most(to.most_ns, ns);
  head().end_ns.store(end, std::memory_order_relaxed);
  head().last.store(number_of(to) + 1, std::memory_order_relaxed);
  // `inside` stays if another thread has begun a call since.
  if (head().since_ns.load(std::memory_order_relaxed) == begin) head().inside.store(0, std::memory_order_relaxed);
}

void CallProfile::located(const CallRecord& record, std::uint64_t begin) {
  if (head().since_ns.load(std::memory_order_relaxed) != begin) return;
  std::uint32_t inside = head().inside.load(std::memory_order_relaxed);
  if (inside != 0) head().inside.compare_exchange_strong(inside, number_of(record) + 1, std::memory_order_relaxed);
}

void CallProfile::aborted() { head().state.store(CallFileState::aborted, std::memory_order_relaxed); }

Status CallProfile::finish(std::uint64_t now) {
  head().state.store(CallFileState::finished, std::memory_order_relaxed);
  head().end_ns.store(now, std::memory_order_relaxed);
  const std::size_t front = sizeof(CallFile) + head().records.load(std::memory_order_acquire) * sizeof(CallRecord);
  const std::size_t texts = head().text_bytes.load(std::memory_order_acquire);
  std::string bytes(static_cast<const char*>(memory_), front);
  bytes.append(static_cast<const char*>(memory_) + kTextsAt, texts);
  const auto texts_at = static_cast<std::uint32_t>(front);
  std::memcpy(bytes.data() + offsetof(CallFile, texts), &texts_at, sizeof texts_at);
  return write_whole(path_, bytes);
}

}  // namespace urakata::observe
