// SPDX-License-Identifier: BSD-3-Clause
// The lock of an endpoint's queues. Its cost depends on which threads may call:
//
//   one             only one thread calls at a time: nothing is done
//   one_and_progress_thread
//                   threads of the program call one at a time, and besides a progress thread, seldom: those of the
//                   program store one flag and load another; the progress thread has the kernel put a fence into all
//                   running threads before it loads the program's flag (an asymmetric Dekker lock)
//   one_and_often   the same with a progress thread that comes often: a fence in all threads of a space each time would
//                   cost the other ranks more than a locked exchange costs each call here. A spin lock, which a thread
//                   of the program may keep while it waits for some microseconds: a progress thread tries, or spins as
//                   long
//   many            threads of the program call at once: a spin lock
//
// `on_progress_thread` (base/progress_thread.hpp) says whether the calling thread is a progress thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.hpp"
#include "base/progress_thread.hpp"
#include "base/waiting.hpp"

namespace urakata::p2p {

enum class Callers : std::uint8_t { one, one_and_progress_thread, one_and_often, many };

class URAKATA_LOCK_TYPE CallerLock {
 public:
  explicit CallerLock(Callers callers) : callers_(callers) {}
  CallerLock(const CallerLock&) = delete;
  CallerLock& operator=(const CallerLock&) = delete;

  // Whether threads of the program may call at once. If so, no thread may hold the lock while it waits for a message.
  bool contended() const { return callers_ == Callers::many; }

  // Whether only one thread at a time calls, so that no locking is needed.
  bool alone() const { return callers_ == Callers::one; }

  void lock() URAKATA_ACQUIRES() {
    if (callers_ == Callers::one) return;
    if (callers_ == Callers::one_and_progress_thread && !on_progress_thread) {
      begin_as_program();
    } else {
      compete();
    }
  }

  // Not for threads of the program where a progress thread calls besides.
  bool try_lock() URAKATA_TRIES(true) {
    if (callers_ == Callers::one) return true;
    if (callers_ == Callers::one_and_progress_thread) return try_as_progress_thread();
    return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
  }

  // True: other threads of the program may be waiting for requests that this thread has finished.
  bool unlock() URAKATA_RELEASES() {
    if (callers_ == Callers::one) return false;
    (callers_ == Callers::one_and_progress_thread && !on_progress_thread ? program_in_ : held_)
        .store(false, std::memory_order_release);
    return callers_ == Callers::many;
  }

  // The analysis is told that the caller holds it, as by Mutex::assert_held(). Does nothing.
  void assert_held() const URAKATA_ANNOTATION(assert_capability(this)) {}

 private:
  void begin_as_program() {
    program_in_.store(true, std::memory_order_relaxed);
    // The progress thread's fence orders the two for the processor, this one for the compiler.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (held_.load(std::memory_order_acquire)) wait_for_progress_thread();
  }
  void wait_for_progress_thread();
  void compete() URAKATA_NOT_ANALYSED;  // takes the lock in a loop of tries
  bool try_as_progress_thread();

  const Callers callers_;
  std::atomic<bool> held_{false};  // whether the spin lock is taken; one_and_progress_thread: by a progress thread
  std::atomic<bool> program_in_{false};  // one_and_progress_thread: a thread of the program holds or awaits the lock
};

}  // namespace urakata::p2p
