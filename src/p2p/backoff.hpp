// How a rank waits for its space: spin, yield, then sleep until another rank has something for it. See decision 6 of
// DESIGN.md. One object for each wait.
#pragma once

#include <cstdint>

#include "p2p/port.hpp"

namespace urakata::p2p {

struct BackoffSettings {
  bool oversubscribed = false;  // more ranks than cores: spinning would keep a peer from running
  unsigned pauses = 0;          // between two polls; see pauses_between_polls()
  // What else the rank has to keep moving while it waits (the host can only be polled). Returns whether anything moved.
  bool (*poll)() = nullptr;
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
      : port_(port), backoff_settings_(backoff_settings), spins_(spins(backoff_settings)) {}

  // After a poll of everything that found nothing new. `ready`: what is waited for has come after all.
  template <class Ready>
  void step(Ready ready) {
    step(ready, backoff_settings_.pauses);
  }
  // The same with as many pauses while it spins.
  template <class Ready>
  void step(Ready ready, unsigned pauses) {
    if (taken_ < spins_) {
      if (++taken_ > kBareSpins) pause();
      rest(pauses);
      return;
    }
    if (backoff_settings_.poll != nullptr && backoff_settings_.poll()) {
      restart();
    } else if (taken_ < spins_ + (backoff_settings_.oversubscribed ? kYieldsOversubscribed : kYields)) {
      ++taken_;
      yield();
    } else {
      port_.sleep(nap_ns_, [&] { return ready() || port_.inbox.peek() != nullptr || port_.assist.load() != nullptr; });
      if (nap_ns_ < kLongestNap) nap_ns_ *= 2;
    }
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
  // Naps end by themselves: the host tells nobody that it has news.
  static constexpr std::uint64_t kFirstNap = 50'000;  // ns
  static constexpr std::uint64_t kLongestNap = 800'000;

  static unsigned spins(const BackoffSettings& backoff_settings) {
    if (backoff_settings.oversubscribed) return 0;
    return backoff_settings.pauses == 0 ? kSpins : kSpinsWithPauses;
  }
  static void yield();

  Port& port_;
  const BackoffSettings& backoff_settings_;
  unsigned spins_;
  unsigned taken_ = 0;
  std::uint64_t nap_ns_ = kFirstNap;
};

}  // namespace urakata::p2p
