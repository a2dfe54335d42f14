// How a rank waits for its space: spin, yield, then sleep until another rank has something for it. See decision 6 of
// DESIGN.md. One object for each wait.
#pragma once

#include <cstdint>

#include "p2p/port.hpp"

namespace urakata::p2p {

struct Manners {
  bool oversubscribed = false;  // more ranks than cores: spinning would keep a peer from running
  // What else the rank has to keep moving while it waits (the host can only be polled). Returns whether anything moved.
  bool (*poll)() = nullptr;
};

class Patience {
 public:
  Patience(Port& port, const Manners& manners)
      : port_(port), manners_(manners), spins_(manners.oversubscribed ? 0 : kSpins) {}

  // After a look at everything that found nothing new. `ready`: what is waited for has come after all.
  template <class Ready>
  void step(Ready ready) {
    if (taken_ < spins_) {
      if (++taken_ > kBareSpins) pause();
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
  static constexpr unsigned kYields = 2000;  // about a millisecond
  static constexpr unsigned kYieldsCrowded = 20;
  // Naps end by themselves: the host tells nobody that it has news.
  static constexpr std::uint64_t kFirstNap = 50'000;  // ns
  static constexpr std::uint64_t kLongestNap = 800'000;

  static void yield();

  Port& port_;
  const Manners& manners_;
  unsigned spins_;
  unsigned taken_ = 0;
  std::uint64_t nap_ns_ = kFirstNap;
};

}  // namespace urakata::p2p
