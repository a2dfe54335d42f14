// SPDX-License-Identifier: BSD-3-Clause
// The receives of mixed endpoint communicators that wait for their turn, and those that the MPI library is at.
//
// A receive from any source is posted at the endpoint and stands in a queue, in which a receive that could take the
// same message stands behind it. While the queue is polled, the MPI library is asked for each entry whether it has a
// message (MPI_Iprobe); if so the receive is taken back from the endpoint, and MPI_Improbe and MPI_Imrecv receive the
// message. (Where it is the endpoint's only open request and one thread calls, it is taken back first, and posted again
// if MPI_Improbe finds nothing: that is one question less.) Who has brought the last messages is asked most
// (turns_of_endpoint()). If the endpoint has matched the receive before, it just leaves the
// queue. An entry never gets a message that an earlier one could take. A receive from outside that no entry of the
// queue can disturb goes to the MPI library at once.
//
// The queue is polled whenever the rank makes progress, also from within the MPI library's own waiting.
//
// Thread-safety: all members under a Lock, but those which say that they are for any thread.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "messages/mixed_receive.hpp"
#include "p2p/queue.hpp"

namespace urakata::messages {

class MixedQueue {
 public:
  // Held by the thread that polls the queue. A thread that waits for it gives its core away: the holder asks the MPI
  // library.
  class Lock {
   public:
    explicit Lock(MixedQueue& of) : of_(of) {
      while (of.taken_.exchange(true, std::memory_order_acquire)) sched_yield();
    }
    Lock(MixedQueue& of, std::try_to_lock_t) : of_(of), got_(!of.taken_.exchange(true, std::memory_order_acquire)) {}
    ~Lock() {
      if (got_) of_.taken_.store(false, std::memory_order_release);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    bool got() const { return got_; }

   private:
    MixedQueue& of_;
    bool got_ = true;
  };

  // `concurrent`: several threads may start receives at once. Endpoint and `native` outlive the queue.
  MixedQueue(p2p::Endpoint& endpoint, NativeReceives& below, bool concurrent)
      : endpoint_(endpoint), native_(below), concurrent_(concurrent) {}

  // Moves on what can move; nothing where a thread is at it, be it this one. Returns whether anything did. By any
  // thread.
  bool progress();
  // Are there receives that wait for their turn? Those need further polls. By any thread.
  bool waiting() const { return waiting_.load(std::memory_order_acquire) != 0; }
  // Whether receives wait for their turn or are at the MPI library. By any thread.
  bool open() const { return open_.load(std::memory_order_acquire) != 0; }
  // While receives from any source wait, in how many turns the endpoint need be asked once where that takes calls of
  // the kernel: in each where it has brought the last messages, in few where the MPI library has. By any thread.
  unsigned turns_of_endpoint() const { return turns_of_endpoint_.load(std::memory_order_relaxed); }
  // May the MPI library have this receive, or probe, of a message from outside at once? False: an entry of the queue
  // could take the same message, or another thread may be about to start such a receive. By any thread.
  bool free_for_native(const MessageDescriptor& descriptor);

  // Has the MPI library a message for the descriptor that no entry takes? The MPI library keeps it for the caller as
  // long as the lock is held.
  bool find_at_native(const MessageDescriptor& descriptor, p2p::Envelope* found);

 private:
  using State = MixedReceive::State;
  friend class MixedReceive;

  bool disturbs(const MessageDescriptor& descriptor, const MixedReceive* before = nullptr) const;
  // As the MPI library's.
  bool probe(const MessageDescriptor& pattern, p2p::Envelope* found);
  bool take(const MessageDescriptor& pattern, const p2p::Envelope& found, NativeHandle* message);
  bool claims(const p2p::Envelope& message, const MixedReceive* before = nullptr) const;
  // A poll is to follow where it is queued then.
  void start(MixedReceive& entry);
  // Polls the queue. Returns whether anything moved.
  bool poll();
  // Marks receives that have ended at the MPI library as finished. Returns whether there were any.
  bool test();
  void leave(MixedReceive& entry);
  void leave_by_endpoint(MixedReceive& entry);
  void forget_at_native(MixedReceive& entry);
  void enter_native(MixedReceive& entry, int code, NativeHandle request);
  void note_bringer(const MixedReceive& entry, bool by_native);
  // The MPI library's receive from one rank.
  void post(MixedReceive& entry);
  // The MPI library's receive of a message that was taken.
  void receive(MixedReceive& entry, NativeHandle message);

  p2p::Endpoint& endpoint_;
  NativeReceives& native_;
  const bool concurrent_;
  std::atomic<bool> taken_{false};
  p2p::Queue<MixedReceive> queue_;
  p2p::Queue<MixedReceive> at_native_;
  std::atomic<std::uint32_t> open_{0};     // number of receives in queue_ and at_native_
  std::atomic<std::uint32_t> waiting_{0};  // number of receives in queue_
  std::atomic<unsigned> turns_of_endpoint_{1};
  unsigned unasked_ = 0;  // receives that have started since the MPI library was asked
};

}  // namespace urakata::messages
