// SPDX-License-Identifier: BSD-3-Clause
// Sum, least and most in relaxed atomics, so any thread may add and read at any time.
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
