// The time line: what each thread of a rank did and when, in bounded memory.
//
// One Track for the callers, one for each helper. A track is a ring: the newest events overwrite the oldest, and lost()
// counts those. Any thread may add; adding takes no lock, no allocation and no system call. Reading is exact once the
// adding threads are done; before that it may show an event half overwritten.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace urakata::observe {

enum class EventKind : std::uint8_t {
  start,     // inside a starting call
  wait,      // inside a wait
  progress,  // advancing instances
};
const char* name(EventKind kind);

struct Event {
  static constexpr std::uint32_t kNoCallSite = ~std::uint32_t{0};

  std::uint64_t begin = 0;  // CLOCK_MONOTONIC, ns
  std::uint64_t end = 0;
  std::uint32_t site = kNoCallSite;  // CallSite::number()
  std::uint16_t thread = 0;          // 0, 1, ... in the order in which the process's threads first added an event
  EventKind kind = EventKind::start;
};

class Track {
 public:
  Track(std::string name, std::uint32_t capacity);  // capacity is rounded up to a power of two

  void add(EventKind kind, std::uint64_t begin, std::uint64_t end, std::uint32_t site = Event::kNoCallSite);

  const std::string& name() const { return name_; }
  std::uint64_t lost() const;
  std::vector<Event> events() const;  // oldest first

 private:
  // Relaxed atomics, so that two writers of which one overtakes the other spoil an event and nothing else.
  struct Entry {
    std::atomic<std::uint64_t> begin{0};
    std::atomic<std::uint64_t> end{0};
    std::atomic<std::uint64_t> what{0};  // site << 32 | thread << 16 | kind
  };

  std::string name_;
  std::uint64_t mask_;
  std::unique_ptr<Entry[]> entries_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace urakata::observe
