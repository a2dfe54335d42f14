// How a rank waits for its space: spin, yield, then sleep until another rank has something for it. See decision 6 of
// DESIGN.md. One object for each wait.
#pragma once

#include <cstdint>

#include "p2p/port.hpp"

namespace urakata::p2p {

struct Manners {
  bool oversubscribed = false;  // more ranks than cores: spinning would keep a peer from running
  unsigned pauses = 0;          // between two looks; see pauses_between_looks()
  // What else the rank has to keep moving while it waits (the host can only be polled). Returns whether anything moved.
  bool (*poll)() = nullptr;
};

inline void rest(unsigned pauses) {
  for (; pauses != 0; --pauses) pause();
}

// For Manners::pauses, on this processor. Whoever looks all the time at a line of memory that another core is about to
// write asks for it again the moment that it is taken away. Intel's server processors then have two requests for one
// line, and the writer waits. With some time between two looks the line is there when it is asked for. Takes some
// microseconds.
unsigned pauses_between_looks();

class Patience {
 public:
  Patience(Port& port, const Manners& manners) : port_(port), manners_(manners), spins_(spins(manners)) {}

  // After a look at everything that found nothing new. `ready`: what is waited for has come after all.
  template <class Ready>
  void step(Ready ready) {
    step(ready, manners_.pauses);
  }
  // The same with as many pauses while it spins.
  template <class Ready>
  void step(Ready ready, unsigned pauses) {
    if (taken_ < spins_) {
      if (++taken_ > kBareSpins) pause();
      rest(pauses);
      return;
    }
    if (manners_.poll != nullptr && manners_.poll()) {
      restart();
    } else if (taken_ < spins_ + (manners_.oversubscribed ? kYieldsCrowded : kYields)) {
      ++taken_;
      yield();
    } else {
      port_.sleep(nap_ns_, [&] { return ready() || port_.inbox.peek() != nullptr || port_.offered.load() != nullptr; });
      if (nap_ns_ < kLongestNap) nap_ns_ *= 2;
    }
  }
  // Spinning has been in vain; where nobody may spin, all the yielding.
  bool tried() const { return manners_.oversubscribed ? taken_ >= kYieldsCrowded : taken_ > spins_; }
  void restart() {
    taken_ = 0;
    nap_ns_ = kFirstNap;
  }

 private:
  static constexpr unsigned kBareSpins = 100;  // before the first pause, which alone takes a tenth of a message's way
  static constexpr unsigned kSpins = 2000;
  static constexpr unsigned kSpinsApart = 500;  // with pauses between looks; some 40 us
  static constexpr unsigned kYields = 2000;     // about a millisecond
  static constexpr unsigned kYieldsCrowded = 20;
  // Naps end by themselves: the host tells nobody that it has news.
  static constexpr std::uint64_t kFirstNap = 50'000;  // ns
  static constexpr std::uint64_t kLongestNap = 800'000;

  static unsigned spins(const Manners& manners) {
    if (manners.oversubscribed) return 0;
    return manners.pauses == 0 ? kSpins : kSpinsApart;
  }
  static void yield();

  Port& port_;
  const Manners& manners_;
  unsigned spins_;
  unsigned taken_ = 0;
  std::uint64_t nap_ns_ = kFirstNap;
};

}  // namespace urakata::p2p
