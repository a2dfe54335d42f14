// SPDX-License-Identifier: BSD-3-Clause
// When the progress threads of a rank moved operations on, in bounded memory. (What its callers did is the profile's:
// call_events.hpp.)
//
// One Track for each progress thread: a ring, of which the newest spans overwrite the oldest; lost() counts those. Any
// thread may add; adding takes no lock, no allocation and no system call. Reading is exact once the adding threads are
// done; before that it may show a span half overwritten.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace urakata::observe {

struct Span {
  std::uint64_t begin = 0;  // CLOCK_MONOTONIC, ns
  std::uint64_t end = 0;
};

class Track {
 public:
  Track(std::string name, std::uint32_t capacity);  // capacity is rounded up to a power of two

  void add(std::uint64_t begin, std::uint64_t end);

  const std::string& name() const { return name_; }
  std::uint64_t lost() const;
  std::vector<Span> spans() const;  // oldest first

 private:
  // Relaxed atomics, so that two writers of which one overtakes the other spoil a span and nothing else.
  struct Entry {
    std::atomic<std::uint64_t> begin{0};
    std::atomic<std::uint64_t> end{0};
  };

  std::string name_;
  std::uint64_t mask_;
  std::unique_ptr<Entry[]> entries_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace urakata::observe
