// SPDX-License-Identifier: BSD-3-Clause
// Which threads of a process submit to its rings. The thread that called MPI_Init submits itself. For all other threads
// a thread of ours submits, made when it is first needed; if it cannot be made, they submit themselves.
//
// Thread-safety: by_itself(), hand_over() and forget() by any thread; constructor, stop() and destructor by the thread
// that calls MPI_Init and MPI_Finalize.
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

  // Whether the calling thread is the one that made this object, whose requests live as long as the program.
  bool by_itself() const { return pthread_equal(owner_, pthread_self()) != 0; }
  // Has our thread call submit() of the channel set. False: that thread could not be made.
  bool hand_over(ChannelSet& channel_set);
  // To be called before the channel set is destroyed. Drops what was handed over for it, and waits while our thread is
  // submitting for it.
  void forget(ChannelSet& channel_set);
  // Ends our thread, if there is one. No operation of any channel set may be in flight.
  void stop();

 private:
  void run();

  const pthread_t owner_;
  Mutex lock_;
  std::deque<ChannelSet*> queue_ URAKATA_GUARDED_BY(lock_);
  ChannelSet* submits_ URAKATA_GUARDED_BY(lock_) = nullptr;  // the one our thread submits for; nullptr: none
  std::condition_variable_any between_;                      // signalled when `submits_` becomes nullptr
  std::atomic<std::uint32_t> calls_{0};                      // futex word: grows with each hand_over(), and in stop()
  std::atomic<bool> stopping_{false};
  std::unique_ptr<ProgressThread> thread_;
};

}  // namespace urakata::chain
