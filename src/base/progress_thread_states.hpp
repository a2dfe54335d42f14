// SPDX-License-Identifier: BSD-3-Clause
// The state of a progress thread, a futex word. From it the program's threads learn how the progress thread rests, so
// that the start of an operation wakes it only if need be.
//
//   working    moves what can move, or naps for moments in between
//   listening  sleeps until a descriptor of its owner's is readable; the owner uses one of these to wake it
//   dozing     naps for long, and wakes by itself
//   resting    naps for longer, so that there are more reasons to wake it
//   asleep     sleeps until it is woken
//   stopping   is to end; this state is never left
//
// A rest is every state but `working` and `stopping`. Only the progress thread begins a rest, and only from `working`.
// The progress thread, or a thread that calls wake(), ends it in `working`. Any thread may set `stopping`.
//
// A program's thread announces work (seq_cst), then reads present(). The progress thread announces its rest, then looks
// for work: in sleep() before it sleeps, otherwise after the rest. So the program's thread sees the rest, or the
// progress thread sees the work.
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

  // Sleeps for `ns`, or until stop(), without a change of state.
  void nap(std::uint64_t ns) { futex_wait(state_, kWorking, ns); }
  // Rests for `ns`, or until wake() or stop(). `how`: kDozing or kResting. True: the thread was woken, or is stopping.
  bool doze(std::uint64_t ns, State how = kDozing) {
    if (!rests(how)) return true;
    futex_wait(state_, how, ns);
    return !back(how);
  }
  // Sleeps until wake() or stop(), or until idle() is false. idle() is called after the rest has been announced.
  template <class Idle>
  void sleep(Idle idle) {
    if (!rests(kAsleep)) return;
    while (idle() && present() == kAsleep) futex_wait(state_, kAsleep);
    back(kAsleep);
  }
  // rests() announces a rest in which the thread sleeps by other means; false: it is stopping and must not rest. back()
  // ends that rest; false: the thread had been woken before, or is stopping.
  bool rests(State how) {
    std::uint32_t expected = kWorking;
    return state_.compare_exchange_strong(expected, how, std::memory_order_seq_cst);
  }
  bool back(State from) {
    std::uint32_t expected = from;
    return state_.compare_exchange_strong(expected, kWorking, std::memory_order_seq_cst);
  }

  // Ends the rest `from`. False: the progress thread was not in that rest. After true for kListening the caller must
  // make the thread's descriptor readable.
  bool wake(State from) {
    std::uint32_t expected = from;
    if (!state_.compare_exchange_strong(expected, kWorking, std::memory_order_seq_cst)) return false;
    if (from != kListening) futex_wake(state_);
    return true;
  }
  // Sets `stopping` and ends any rest. Returns the state before. If that is kListening, the caller must make the
  // thread's descriptor readable.
  State stop() {
    const std::uint32_t before = state_.exchange(kStopping, std::memory_order_seq_cst);
    futex_wake(state_);
    return static_cast<State>(before);
  }

 private:
  std::atomic<std::uint32_t> state_{kWorking};  // futex word
};

}  // namespace urakata
