// SPDX-License-Identifier: BSD-3-Clause
// The word by which a progress thread and the program's threads tell each other how it rests, so that a start wakes it
// only where that is needed.
//
//   working    it moves what there is, or naps for moments in between
//   listening  it sleeps until one of the descriptors is readable; the owner wakes it by one of them
//   dozing     long naps, of which it wakes by itself
//   resting    naps so long that more is a reason to end them
//   asleep     until it is woken
//   stopping   for good
//
// Only the progress thread leaves `working`, and only from there it goes to rest; whoever wakes it puts it back there.
// So two that meet come to one: what has been announced (seq_cst) before present() is read is seen by a progress thread
// that has gone to rest before, when it polls again.
//
// Thread-safety: nap(), doze(), sleep(), rests() and back() by the progress thread; the rest by any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/waiting.hpp"

namespace urakata {

class ProgressThreadStates {
 public:
  enum State : std::uint32_t { kWorking, kListening, kDozing, kResting, kAsleep, kStopping };

  State present() const { return static_cast<State>(state_.load(std::memory_order_seq_cst)); }
  bool stopping() const { return state_.load(std::memory_order_relaxed) == kStopping; }

  // For `ns`, or until it is stopped.
  void nap(std::uint64_t ns) { futex_wait(state_, kWorking, ns); }
  // For `ns`, or until it is woken; `how`: kDozing or kResting. True: it was woken, or is stopping.
  bool doze(std::uint64_t ns, State how = kDozing) {
    if (!rests(how)) return true;
    futex_wait(state_, how, ns);
    return !back(how);
  }
  // Until it is woken, for as long as idle() says so. idle() is asked after the sleep has been announced.
  template <class Idle>
  void sleep(Idle idle) {
    if (!rests(kAsleep)) return;
    while (idle() && present() == kAsleep) futex_wait(state_, kAsleep);
    back(kAsleep);
  }
  // Announces a rest of another kind, and that it is over. False: it is stopping; it had been woken, or is stopping.
  bool rests(State how) {
    std::uint32_t expected = kWorking;
    return state_.compare_exchange_strong(expected, how, std::memory_order_seq_cst);
  }
  bool back(State from) {
    std::uint32_t expected = from;
    return state_.compare_exchange_strong(expected, kWorking, std::memory_order_seq_cst);
  }

  // Ends the rest `from`, if the progress thread is in it. True: it was; one that listens is then to be told by its
  // descriptor.
  bool wake(State from) {
    std::uint32_t expected = from;
    if (!state_.compare_exchange_strong(expected, kWorking, std::memory_order_seq_cst)) return false;
    if (from != kListening) futex_wake(state_);
    return true;
  }
  // Whichever rest it is in, which is returned: one that listens is then to be told by its descriptor.
  State stop() {
    const std::uint32_t before = state_.exchange(kStopping, std::memory_order_seq_cst);
    futex_wake(state_);
    return static_cast<State>(before);
  }

 private:
  std::atomic<std::uint32_t> state_{kWorking};  // futex word
};

}  // namespace urakata
