// SPDX-License-Identifier: BSD-3-Clause
// How a rank waits for messages of its endpoint, from its space or by the link: spin, yield, then nap until a message
// comes or the time is up (docs/design/decisions/0022-spin-yield-sleep.md). One object for each wait.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "p2p/port.hpp"

namespace urakata::p2p {

struct BackoffSettings {
  // Whether the rank must not spin: there may be more threads that can run than cores, or Open MPI yields when it is
  // idle.
  bool oversubscribed = false;
  unsigned pauses = 0;  // pauses between two polls; see pauses_between_polls()
  // Called in each step() after the spinning: moves on what can only be polled, as the MPI library. Returns whether
  // anything moved.
  bool (*poll)() = nullptr;
  // A poll that finds nothing has already yielded the core. A second yield would halve this rank's share of polls,
  // beside a rank on the same core that yields once.
  bool poll_gives_way = false;
  // Sleeps until what the rank waits for may have come, for at most so many nanoseconds. For ranks that no other rank
  // wakes: their space has no other, and the link tells by a descriptor. A rank with such a function spins for a short
  // time only, since each poll is a system call. nullptr: the rank sleeps at its port.
  void (*sleep)(std::uint64_t ns) = nullptr;
  // With `sleep`: whether the descriptor becomes readable for everything that the rank waits for. If not, the rank
  // yields for longer before it sleeps, and sleeps for at most kUntoldNap at a time.
  bool (*descriptor_covers_all)() = nullptr;
  std::atomic<unsigned>* waiting = nullptr;  // if set: number of threads in a wait; relaxed
  void (*entered)() = nullptr;               // called where a wait begins; together with `waiting`
  std::uint64_t longest_nap = 800'000;  // ns; naps end by themselves: the MPI library tells nobody that it is ready
};

inline void rest(unsigned pauses) {
  for (; pauses != 0; --pauses) pause();
}

// The value of BackoffSettings::pauses for this processor. A core that polls a cache line requests the line again as
// soon as its writer invalidates it. On Intel's server processors this request delays the writer's store. Pauses
// between polls avoid the second request. The measurement takes some microseconds.
unsigned pauses_between_polls();

class Backoff {
 public:
  Backoff(Port& port, const BackoffSettings& backoff_settings)
      : port_(port),
        backoff_settings_(backoff_settings),
        spins_(spins(backoff_settings)),
        yields_(yields(backoff_settings)) {
    if (backoff_settings_.waiting == nullptr) return;
    backoff_settings_.waiting->fetch_add(1, std::memory_order_relaxed);
    if (backoff_settings_.entered != nullptr) backoff_settings_.entered();
  }
  ~Backoff() {
    if (backoff_settings_.waiting != nullptr) backoff_settings_.waiting->fetch_sub(1, std::memory_order_relaxed);
  }
  Backoff(const Backoff&) = delete;
  Backoff& operator=(const Backoff&) = delete;

  // After a poll of everything that found nothing new. `ready`: what is waited for has come after all.
  template <class Ready>
  void step(Ready ready) {
    step(ready, backoff_settings_.pauses);
  }
  // As step(ready), but with `pauses` pauses between two polls while spinning.
  template <class Ready>
  void step(Ready ready, unsigned pauses) {
    if (spin(pauses)) return;
    if (backoff_settings_.poll != nullptr && backoff_settings_.poll()) {
      restart();
    } else {
      give_way(ready);
    }
  }
  // step() for a caller that has just called BackoffSettings::poll itself: does not call it again.
  template <class Ready>
  void step_after_all(Ready ready) {
    if (spin(backoff_settings_.pauses)) return;
    give_way(ready);
  }
  // Whether all spins were in vain; if the rank must not spin, whether all yields were.
  bool tried() const { return backoff_settings_.oversubscribed ? taken_ >= kYieldsOversubscribed : taken_ > spins_; }
  void restart() {
    taken_ = 0;
    nap_ns_ = kFirstNap;
  }

 private:
  // Spins before the first additional pause(), which takes about a tenth of a message's latency. With `pauses` above 0
  // each spin has those from the first on.
  static constexpr unsigned kBareSpins = 100;
  static constexpr unsigned kSpins = 2000;
  static constexpr unsigned kSpinsWithPauses = 500;  // with pauses between polls; some 40 us
  static constexpr unsigned kYields = 2000;          // about a millisecond
  static constexpr unsigned kYieldsOversubscribed = 20;
  static constexpr unsigned kSpinsByLink = 100;         // some 50 us
  static constexpr std::uint64_t kFirstNap = 50'000;    // ns
  static constexpr std::uint64_t kUntoldNap = 100'000;  // ns; at most so long where what is waited for may tell nobody

  static unsigned spins(const BackoffSettings& backoff_settings) {
    if (backoff_settings.oversubscribed) return 0;
    if (backoff_settings.sleep != nullptr) return kSpinsByLink;
    return backoff_settings.pauses == 0 ? kSpins : kSpinsWithPauses;
  }
  static unsigned yields(const BackoffSettings& backoff_settings) {
    return backoff_settings.oversubscribed || backoff_settings.sleep != nullptr ? kYieldsOversubscribed : kYields;
  }
  static void yield();

  // Spins once. False: no spins are left.
  bool spin(unsigned pauses) {
    if (taken_ >= spins_) return false;
    if (++taken_ > kBareSpins) pause();
    rest(pauses);
    return true;
  }

  template <class Ready>
  void give_way(Ready ready) {
    if (taken_ < spins_ + yields_ || (taken_ < kYields && !covered())) {
      ++taken_;
      if (!backoff_settings_.poll_gives_way) yield();
    } else {
      nap(ready);
    }
  }

  bool covered() const { return backoff_settings_.sleep == nullptr || backoff_settings_.descriptor_covers_all(); }

  template <class Ready>
  void nap(Ready ready) {
    if (backoff_settings_.sleep != nullptr) {
      backoff_settings_.sleep(covered() ? nap_ns_ : std::min(nap_ns_, kUntoldNap));
    } else {
      port_.sleep(nap_ns_, [&] {
        return ready() || port_.inbox.peek() != nullptr || port_.assist.load() != nullptr ||
               port_.others_can_progress();
      });
    }
    if (nap_ns_ < backoff_settings_.longest_nap) nap_ns_ *= 2;
  }

  Port& port_;
  const BackoffSettings& backoff_settings_;
  unsigned spins_;
  unsigned yields_;
  unsigned taken_ = 0;
  std::uint64_t nap_ns_ = kFirstNap;
};

}  // namespace urakata::p2p
