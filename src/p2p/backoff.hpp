// SPDX-License-Identifier: BSD-3-Clause
// How a rank waits for its space: spin, yield, then sleep until another rank has something for it
// (docs/design/decisions/0022-spin-yield-sleep.md). One object for each wait.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "p2p/port.hpp"

namespace urakata::p2p {

struct BackoffSettings {
  bool oversubscribed = false;  // more ranks than cores: spinning would keep a peer from running
  unsigned pauses = 0;          // between two polls; see pauses_between_polls()
  // What else the rank has to keep moving while it waits (the MPI library can only be polled). Returns whether anything
  // moved.
  bool (*poll)() = nullptr;
  // Where the poll finds nothing it has given the core away by itself. To do it once more would halve how often this
  // rank polls, beside one on its core that does it once.
  bool poll_gives_way = false;
  // Sleeps until what the rank waits for may have come, for at most so many nanoseconds, where no other rank would wake
  // it: there is none in its space, and a link tells by a descriptor. It spins for a short time only before that, since
  // each poll is a system call. nullptr: by the port.
  void (*sleep)(std::uint64_t ns) = nullptr;
  bool (*told)() =
      nullptr;  // with `sleep`: does the descriptor tell of all that is waited for? Else sleeping is put off
  std::atomic<unsigned>* waiting = nullptr;  // how many wait at the moment, where somebody wants to know; relaxed
  void (*entered)() = nullptr;               // called where a wait begins; together with `waiting`
  std::uint64_t longest_nap = 800'000;  // ns; naps end by themselves: the MPI library tells nobody that it is ready
};

inline void rest(unsigned pauses) {
  for (; pauses != 0; --pauses) pause();
}

// For BackoffSettings::pauses, on this processor. Whoever polls a line of memory all the time that another core is
// about to write asks for it again the moment that it is taken away. Intel's server processors then have two requests
// for one line, and the writer waits. With some time between two polls the line is there when it is asked for. Takes
// some microseconds.
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
  // The same with as many pauses while it spins.
  template <class Ready>
  void step(Ready ready, unsigned pauses) {
    if (spin(pauses)) return;
    if (backoff_settings_.poll != nullptr && backoff_settings_.poll()) {
      restart();
    } else {
      give_way(ready);
    }
  }
  // The same where the poll of everything has been that of the settings, too.
  template <class Ready>
  void step_after_all(Ready ready) {
    if (spin(backoff_settings_.pauses)) return;
    give_way(ready);
  }
  // Spinning has been in vain; where nobody may spin, all the yielding.
  bool tried() const { return backoff_settings_.oversubscribed ? taken_ >= kYieldsOversubscribed : taken_ > spins_; }
  void restart() {
    taken_ = 0;
    nap_ns_ = kFirstNap;
  }

 private:
  static constexpr unsigned kBareSpins = 100;  // before the first pause, which alone takes a tenth of a message's way
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

  // False: it is not the time for that any more.
  bool spin(unsigned pauses) {
    if (taken_ >= spins_) return false;
    if (++taken_ > kBareSpins) pause();
    rest(pauses);
    return true;
  }

  template <class Ready>
  void give_way(Ready ready) {
    if (taken_ < spins_ + yields_ || (taken_ < kYields && !told())) {
      ++taken_;
      if (!backoff_settings_.poll_gives_way) yield();
    } else {
      nap(ready);
    }
  }

  bool told() const { return backoff_settings_.sleep == nullptr || backoff_settings_.told(); }

  template <class Ready>
  void nap(Ready ready) {
    if (backoff_settings_.sleep != nullptr) {
      backoff_settings_.sleep(told() ? nap_ns_ : std::min(nap_ns_, kUntoldNap));
    } else {
      port_.sleep(nap_ns_, [&] {
        return ready() || port_.inbox.peek() != nullptr || port_.assist.load() != nullptr || port_.further_readiness();
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
