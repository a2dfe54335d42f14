// SPDX-License-Identifier: BSD-3-Clause
// Sums, least and most that the program's calls add up to: relaxed atomics, since any thread may read them.
#pragma once

#include <atomic>
#include <cstdint>

namespace urakata::observe {

inline void add(std::atomic<std::uint64_t>& sum, std::uint64_t value) {
  sum.fetch_add(value, std::memory_order_relaxed);
}

inline void note_least(std::atomic<std::uint64_t>& least, std::uint64_t value) {
  std::uint64_t seen = least.load(std::memory_order_relaxed);
  while (value < seen && !least.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

inline void note_most(std::atomic<std::uint64_t>& most, std::uint64_t value) {
  std::uint64_t seen = most.load(std::memory_order_relaxed);
  while (value > seen && !most.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace urakata::observe
