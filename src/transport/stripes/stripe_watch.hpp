// SPDX-License-Identifier: BSD-3-Clause
// Watches pairs with open sends or receives: finds silent stripes, and nodes that are gone.
//
// A timer ticks while something could be lost. At each tick a silent stripe is given up if others of its pair are
// heard. If none is, a new one is tried. The pair fails if nothing has been heard of for the Wire's timeout.
//
// Thread-safety: under the lock of Stripes; timer() by any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/stripes/stripe_peer.hpp"
#include "transport/stripes/stripe_pool.hpp"
#include "transport/stripes/stripe_sender.hpp"
#include "transport/stripes/stripes_settings.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

class StripeWatch {
 public:
  StripeWatch(const Wire& wire, const StripesSettings& settings, StripePeers& peers, StripePool& pool,
              StripeSender& sender);
  ~StripeWatch();
  StripeWatch(const StripeWatch&) = delete;
  StripeWatch& operator=(const StripeWatch&) = delete;

  int timer() const { return timer_; }  // readable while tick() is due; -1: there is none
  void tick();
  // Starts or stops the timer, by what may be lost now.
  void arm();
  // The same where a message has been posted: the timer runs already if one was open before.
  void note_posted() {
    if (!wanted_) arm();
  }
  // May what this rank has acknowledged come again, or has it sent what is not acknowledged? Asked in each step of a
  // domain in which nothing else goes on: the kernel is asked now and then.
  bool flushing();

 private:
  struct Silent {
    std::vector<Stripe*> out, in;
    bool heard_out = false;   // of one of ours
    bool heard = false;       // of any
    bool unanswered = false;  // connections that are not open yet, or there is none
  };

  void note_told(StripePeer& peer) const;
  void check(StripePeer& peer, std::uint64_t now);
  void lose_broken(StripePeer& peer);
  void ask_node(StripePeer& peer, std::uint64_t now) const;
  Silent find_silent(StripePeer& peer, std::uint64_t now) const;
  void give_up(StripePeer& peer, const Silent& silent);

  const Wire& wire_;
  const StripesSettings& settings_;
  StripePeers& peers_;
  StripePool& pool_;
  StripeSender& sender_;
  const int timer_;
  bool wanted_ = false;  // whether sends or receives of any peer are open, as of the last tick
  bool armed_ = false;   // whether the timer runs
  std::uint64_t told_checked_ns_ = 0;
};

}  // namespace urakata::transport
