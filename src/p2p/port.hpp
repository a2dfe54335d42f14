// SPDX-License-Identifier: BSD-3-Clause
// A port: what the other ranks of a space see of a rank's endpoint.
//
// Thread-safety: all members by any thread of the address space; `inbox`'s consumer is the endpoint.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/waiting.hpp"
#include "p2p/fence.hpp"
#include "p2p/inbox.hpp"

namespace urakata::p2p {

class Port {
 public:
  // Version of the shared memory's protocol. It must change with the meaning of any byte of Port, Slot, Request, Put,
  // the two endpoints of a pair, or anything they refer to (Elements, layout::Shape). Ranks of different builds share
  // nothing.
  static constexpr std::uint64_t kProtocol = 0x7572612d7032700f;

  Inbox inbox;  // filled by all ranks, emptied by the endpoint's

  // A large message of this rank's that its receiver has begun to copy, for this rank to help where it waits. Set by
  // the receiver if it is nullptr (release); taken by this rank (acquire), or back by the receiver before it stores the
  // request's `finished`.
  alignas(kLine) std::atomic<Request*> assist{nullptr};

  // What may have something for the rank to do besides inbox and assist. The rank's own.
  class Further {
   public:
    virtual bool can_progress() const = 0;

   protected:
    ~Further() = default;
  };
  std::atomic<const Further*> further{nullptr};  // constant once set, release; acquire
  bool others_can_progress() const {
    const Further* const more = further.load(std::memory_order_acquire);
    return more != nullptr && more->can_progress();
  }

  // Wakes the rank's sleeping threads. To be called after the store that they may be waiting for.
  void wake() {
    // The sleeper's fence orders that store and this load for the processor, this one for the compiler.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if ((sleepers_.load(std::memory_order_relaxed) & kAsleep) != 0) wake_sleeper();
  }

  // Sleeps until wake() or for `timeout_ns`; at once if `ready` already says so when tested last. An odd sleepers_
  // must be seen by every producer whose message `ready` does not see: instead of a fence in each wake() the sleeper
  // has the kernel put one into all running threads of the address space. That interrupts each of them, so one fence
  // serves all naps until somebody wakes.
  template <class Ready>
  void sleep(std::uint64_t timeout_ns, Ready ready) {
    const std::uint32_t present = sleepers_.fetch_or(kAsleep, std::memory_order_seq_cst) | kAsleep;
    // Another thread of the rank may have made it odd and not have had its fence yet.
    if (fenced_.load(std::memory_order_acquire) != present && fence_all_threads()) {
      fenced_.store(present, std::memory_order_release);
    }  // where the kernel refuses a wake can be missed; sleeps are short for that reason too
    if (!ready()) futex_wait(sleepers_, present, timeout_ns);
    // Stays odd until somebody wakes: other threads of the rank may be asleep yet.
  }

 private:
  static constexpr std::uint32_t kAsleep = 1;

  void wake_sleeper();

  // Read by all in each wake() (relaxed, behind what was stored for the sleeper: its fence orders the two), and written
  // where somebody sleeps or is woken. Odd: a thread of the rank may be asleep. Grows
  // with each wake, so that no sleeper takes another's next nap for its own.
  std::atomic<std::uint32_t> sleepers_{0};
  // The odd value of sleepers_ that all running threads have seen. Written by those who sleep,
  // release, after their fence: who acquires it needs none.
  std::atomic<std::uint32_t> fenced_{0};
};

}  // namespace urakata::p2p
