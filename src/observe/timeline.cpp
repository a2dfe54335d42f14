#include "observe/timeline.hpp"

#include <bit>
#include <utility>

namespace urakata::observe {
namespace {

std::uint16_t this_thread() {
  static std::atomic<std::uint16_t> threads{0};
  thread_local const std::uint16_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

const char* name(EventKind kind) {
  switch (kind) {
    case EventKind::start:
      return "start";
    case EventKind::wait:
      return "wait";
    case EventKind::progress:
      return "progress";
  }
  return "";
}

Track::Track(std::string name, std::uint32_t capacity)
    : name_(std::move(name)), mask_(std::bit_ceil(std::uint64_t{capacity}) - 1), entries_(new Entry[mask_ + 1]) {}

void Track::add(EventKind kind, std::uint64_t begin, std::uint64_t end, std::uint32_t site) {
  Entry& entry = entries_[next_.fetch_add(1, std::memory_order_relaxed) & mask_];
  entry.begin.store(begin, std::memory_order_relaxed);
  entry.end.store(end, std::memory_order_relaxed);
  entry.what.store(std::uint64_t{site} << 32 | std::uint64_t{this_thread()} << 16 | static_cast<std::uint64_t>(kind),
                   std::memory_order_relaxed);
}

std::uint64_t Track::lost() const {
  const std::uint64_t added = next_.load(std::memory_order_relaxed);
  return added > mask_ + 1 ? added - (mask_ + 1) : 0;
}

std::vector<Event> Track::events() const {
  const std::uint64_t added = next_.load(std::memory_order_relaxed);
  std::vector<Event> events;
  events.reserve(added - lost());
  for (std::uint64_t i = lost(); i < added; ++i) {
    const Entry& entry = entries_[i & mask_];
    const std::uint64_t what = entry.what.load(std::memory_order_relaxed);
    events.push_back({.begin = entry.begin.load(std::memory_order_relaxed),
                      .end = entry.end.load(std::memory_order_relaxed),
                      .site = static_cast<std::uint32_t>(what >> 32),
                      .thread = static_cast<std::uint16_t>(what >> 16),
                      .kind = static_cast<EventKind>(what & 0xff)});
  }
  return events;
}

}  // namespace urakata::observe
