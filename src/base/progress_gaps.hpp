// SPDX-License-Identifier: BSD-3-Clause
// Estimates how long the program computes between the start of an operation and the wait for it. In a short gap a
// progress thread that shares the program's core should not run: the program will soon make the same progress itself.
//
// Thread-safety: by any thread. Accesses are relaxed: concurrent callers may spoil the estimate, which does no harm.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"

namespace urakata {

class ProgressGaps {
 public:
  // `long_ns`: length of a gap, in ns, from which on a progress thread may run. Times are those of now_ns().
  explicit ProgressGaps(std::uint64_t long_ns) : long_ns_(long_ns) {}

  void begin(std::uint64_t now = now_ns()) { begun_ns_.store(now, std::memory_order_relaxed); }
  bool begun() const { return begun_ns_.load(std::memory_order_relaxed) != 0; }
  // Ends the gap and updates the running mean, in which the latest gap counts a quarter. Does nothing if no gap has
  // begun. A further end() without begin() measures from the same start, unless forget() was called.
  void end(std::uint64_t now = now_ns()) {
    const std::uint64_t begun = begun_ns_.load(std::memory_order_relaxed);
    if (begun == 0) return;
    const std::uint64_t gap = now - begun;
    mean_ns_.store((3 * mean_ns_.load(std::memory_order_relaxed) + gap) / 4, std::memory_order_relaxed);
  }
  void forget() { begun_ns_.store(0, std::memory_order_relaxed); }

  // Whether the mean is at most `long_ns`.
  bool are_short() const { return mean_ns_.load(std::memory_order_relaxed) <= long_ns_; }
  // Whether a gap has begun that is likely to end soon: gaps are short, and this one is shorter than `long_ns` so far.
  // Reads the clock only if the answer depends on it.
  bool ends_soon() const { return are_short() && begun() && in_time(now_ns()); }
  bool ends_soon(std::uint64_t now) const { return are_short() && begun() && in_time(now); }

 private:
  bool in_time(std::uint64_t now) const { return now - begun_ns_.load(std::memory_order_relaxed) < long_ns_; }

  const std::uint64_t long_ns_;
  std::atomic<std::uint64_t> begun_ns_{0};  // when the latest gap began; 0: none has, or it was forgotten
  std::atomic<std::uint64_t> mean_ns_{0};
};

}  // namespace urakata
