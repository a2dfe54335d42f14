// SPDX-License-Identifier: BSD-3-Clause
// The times in which progress threads progressed operations, in bounded memory. (The program's calls: call_events.hpp.)
//
// A Track belongs to one progress thread. It is a ring of spans: the newest overwrite the oldest.
//
// Thread-safety: all by any thread. Adding takes no lock, no allocation and no system call. Reading is exact once no
// thread adds; before, a span may be half overwritten.
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
  Track(std::string name, std::uint32_t capacity);  // `capacity`: spans, rounded up to a power of two

  void add(std::uint64_t begin, std::uint64_t end);

  const std::string& name() const { return name_; }
  std::uint64_t lost() const;       // number of spans overwritten
  std::vector<Span> spans() const;  // oldest first

 private:
  // Relaxed atomics, so two threads that write the same entry spoil that span only.
  struct Entry {
    std::atomic<std::uint64_t> begin{0};
    std::atomic<std::uint64_t> end{0};
  };

  std::string name_;
  std::uint64_t mask_;  // capacity - 1
  std::unique_ptr<Entry[]> entries_;
  std::atomic<std::uint64_t> next_{0};  // number of spans ever added
};

}  // namespace urakata::observe
