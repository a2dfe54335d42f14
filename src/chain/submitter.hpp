// SPDX-License-Identifier: BSD-3-Clause
// Who submits to the rings of a process: the thread that called MPI_Init, itself, and for all others a thread of ours,
// made when it is first needed.
//
// Thread-safety: hand_over() and forget() by any thread; made and stopped by the thread that calls MPI_Init and
// MPI_Finalize.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>

#include "base/mutex.hpp"
#include "base/progress_thread.hpp"

namespace urakata::chain {

class ChannelSet;

class Submitter {
 public:
  Submitter() : owner_(pthread_self()) {}
  ~Submitter() { stop(); }
  Submitter(const Submitter&) = delete;
  Submitter& operator=(const Submitter&) = delete;

  // Is the calling thread the one whose requests live as long as the program?
  bool by_itself() const { return pthread_equal(owner_, pthread_self()) != 0; }
  // Has the thread of ours submit the channel set's next operation. False: there is no such thread.
  bool hand_over(ChannelSet& channel_set);
  // The channel set is about to go: what was handed over of it is not submitted. Waits for what is being submitted of
  // it.
  void forget(ChannelSet& channel_set);
  // Nothing of any channel set is in flight any more.
  void stop();

 private:
  void run();

  const pthread_t owner_;
  Mutex lock_;
  std::deque<ChannelSet*> queue_ URAKATA_GUARDED_BY(lock_);
  ChannelSet* submits_ URAKATA_GUARDED_BY(lock_) = nullptr;  // whose operation the thread of ours is submitting
  std::condition_variable_any between_;                      // it submits none
  std::atomic<std::uint32_t> calls_{0};                      // futex word: grows with each operation, and at the end
  std::atomic<bool> stopping_{false};
  std::unique_ptr<ProgressThread> thread_;
};

}  // namespace urakata::chain
