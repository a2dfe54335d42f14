// The receives that wait for their turn (mixed_receive.hpp), and those that the host is at.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "p2p/queue.hpp"
#include "shim/mixed_receive.hpp"

namespace urakata::shim {

// All members under a Lock, but empty() and waiting().
class MixedQueue {
 public:
  // Held by whoever looks through the queue. A thread that waits for it gives its core away: the holder asks the host.
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

  // Nothing to look at; by any thread.
  bool empty() const { return open_.load(std::memory_order_acquire) == 0; }
  // Are there receives that wait for their turn? By any thread.
  bool waiting() const { return waiting_.load(std::memory_order_acquire) != 0; }

  // Could an entry, of those before `before`, take a message that the descriptor takes too?
  bool disturbs(const MessageDescriptor& descriptor, const MixedReceive* before = nullptr) const;
  // Has the host a message for the descriptor that no entry takes?
  bool assist(const MessageDescriptor& descriptor, MPI_Status* found) const;

  void start(MixedReceive& entry);
  // Looks through the queue. Returns whether anything moved.
  bool poll();
  void leave(MixedReceive& entry);
  void forget_at_host(MixedReceive& entry);

 private:
  using State = MixedReceive::State;

  bool claims(const p2p::Envelope& message, const MixedReceive* before = nullptr) const;
  // Have receives at the host ended?
  bool test();
  // The host's receive from one rank.
  void post(MixedReceive& entry);
  // Takes the message that was found at the host. False: another thread has, where receives may overtake each other.
  static bool take(const MessageDescriptor& descriptor, const MPI_Status& found, MPI_Message* message);
  void receive(MixedReceive& entry, MPI_Message message);
  void enter_host(MixedReceive& entry);

  std::atomic<bool> taken_{false};
  p2p::Queue<MixedReceive> queue_;
  p2p::Queue<MixedReceive> at_host_;
  std::atomic<std::uint32_t> open_{0};     // in both
  std::atomic<std::uint32_t> waiting_{0};  // in queue_
  unsigned turns_ = 0;
};

// This process's.
MixedQueue& mixed_queue();

}  // namespace urakata::shim
