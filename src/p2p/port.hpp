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
  // Changes with the meaning of any byte here, of Cell, of Request, or of what that refers to (Elements,
  // layout::Shape): ranks of different builds do not mix.
  static constexpr std::uint64_t kProtocol = 0x7572612d70327006;

  Inbox inbox;

  // A large message of this rank's that its receiver has begun to copy, for this rank to help where it waits. Set by
  // the receiver if it is nullptr; taken back by the receiver before it stores the request's `finished`.
  alignas(kLine) std::atomic<Request*> offered{nullptr};

  // Wakes the threads of the rank that sleep. After whatever they may be waiting for was stored.
  void wake() {
    // The sleeper's fence orders that store and this load for the processor, this one for the compiler.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_relaxed) != 0) wake_sleeper();
  }

  // Sleeps until wake() or for `timeout_ns`; at once if `ready` already says so when looked at last. The store of
  // asleep_ must be seen by every producer whose message `ready` does not see: instead of a fence in each wake() the
  // sleeper has the kernel put one into all running threads of the address space.
  template <class Ready>
  void sleep(std::uint64_t timeout_ns, Ready ready) {
    asleep_.exchange(1, std::memory_order_seq_cst);
    fence_all_threads();  // where the kernel refuses a wake can be missed; sleeps are short for that reason too
    if (!ready()) futex_wait(asleep_, 1, timeout_ns);
    // Stays set until somebody wakes: other threads of the rank may be asleep yet.
  }

 private:
  void wake_sleeper();

  std::atomic<std::uint32_t> asleep_{0};
};

}  // namespace urakata::p2p
