// SPDX-License-Identifier: BSD-3-Clause
// How long the program computes between start and wait, as a progress thread on its core has to know: in a short gap it
// could only take the core from the program for what the program is about to do itself.
//
// Thread-safety: by any thread, relaxed; several callers may spoil a value, it is only an expectation.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"

namespace urakata {

class ProgressGaps {
 public:
  // `long_ns`: a gap from which on it pays to be woken.
  explicit ProgressGaps(std::uint64_t long_ns) : long_ns_(long_ns) {}

  void begin(std::uint64_t now = now_ns()) { begun_ns_.store(now, std::memory_order_relaxed); }
  bool begun() const { return begun_ns_.load(std::memory_order_relaxed) != 0; }
  // The gap ends: the mean, the latest counting a quarter. Without one that has begun, nothing. A next end() without
  // begin() counts from the same start; forget() has it count for nothing.
  void end(std::uint64_t now = now_ns()) {
    const std::uint64_t begun = begun_ns_.load(std::memory_order_relaxed);
    if (begun == 0) return;
    const std::uint64_t gap = now - begun;
    mean_ns_.store((3 * mean_ns_.load(std::memory_order_relaxed) + gap) / 4, std::memory_order_relaxed);
  }
  void forget() { begun_ns_.store(0, std::memory_order_relaxed); }

  bool are_short() const { return mean_ns_.load(std::memory_order_relaxed) <= long_ns_; }
  // Is the program expected back within a moment? The clock is read only where it tells.
  bool ends_soon() const { return are_short() && begun() && in_time(now_ns()); }
  bool ends_soon(std::uint64_t now) const { return are_short() && begun() && in_time(now); }

 private:
  bool in_time(std::uint64_t now) const { return now - begun_ns_.load(std::memory_order_relaxed) < long_ns_; }

  const std::uint64_t long_ns_;
  std::atomic<std::uint64_t> begun_ns_{0};  // the latest start; 0: none that has not been forgotten
  std::atomic<std::uint64_t> mean_ns_{0};
};

}  // namespace urakata
