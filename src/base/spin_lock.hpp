// SPDX-License-Identifier: BSD-3-Clause
// A lock for a few instructions, taken by threads that rarely meet. Meets std::lock_guard's needs.
#pragma once

#include <atomic>

#include "base/threads.hpp"
#include "base/waiting.hpp"

namespace urakata {

class SpinLock {
 public:
  void lock() {
    while (exchange(taken_, true, std::memory_order_acquire)) {
      while (taken_.load(std::memory_order_relaxed)) pause();
    }
  }
  bool try_lock() { return !exchange(taken_, true, std::memory_order_acquire); }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace urakata
