// SPDX-License-Identifier: BSD-3-Clause
// A lock for a few instructions, taken by threads that rarely meet. LockGuard (mutex.hpp) holds it.
#pragma once

#include <atomic>

#include "base/mutex.hpp"
#include "base/threads.hpp"
#include "base/waiting.hpp"

namespace urakata {

class URAKATA_LOCK_TYPE SpinLock {
 public:
  void lock() URAKATA_ACQUIRES() {
    while (exchange(taken_, true, std::memory_order_acquire)) {
      while (taken_.load(std::memory_order_relaxed)) pause();
    }
  }
  bool try_lock() URAKATA_TRIES(true) { return !exchange(taken_, true, std::memory_order_acquire); }
  void unlock() URAKATA_RELEASES() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace urakata
