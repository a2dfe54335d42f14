// SPDX-License-Identifier: BSD-3-Clause
// Sending by transport `stripes`: which stripe gets which piece of which message next, and when a send is finished.
//
// Thread-safety: under the lock of Stripes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/stripes/busy_periods.hpp"
#include "transport/stripes/stripe_counts.hpp"
#include "transport/stripes/stripe_peer.hpp"
#include "transport/stripes/stripe_pool.hpp"
#include "transport/stripes/stripes_settings.hpp"
#include "transport/transport.hpp"

namespace urakata::transport {

class StripeSender {
 public:
  // `failure`: the error code of a send to a peer that has failed.
  StripeSender(const StripesSettings& settings, int failure, const StripeCounts& counts, BusyPeriods& periods,
               StripePool& pool)
      : settings_(settings), failure_(failure), counts_(counts), periods_(periods), pool_(pool) {}

  // True: it is gone already. Else the waiter is told of its end.
  bool send(StripePeer& to, const Message& message, const Waiter& waiter);
  // Gives stripes what they take.
  void push(StripePeer& to);
  // The kernel has taken all that this stripe had for it.
  void flushed(Stripe& stripe);
  // The peer has acknowledged so many pieces of this stripe, from the first on.
  void acknowledged(Stripe& stripe, std::uint64_t pieces);
  // Gives up the messages of an instance; returns how many there were. Their memory is the caller's again.
  std::size_t cancel(StripePeer& to, const void* instance);

 private:
  struct FreeStripe {
    Stripe* stripe = nullptr;  // nullptr: none
    std::uint64_t room = 0;    // bytes that it may take
    std::size_t idle = 0;      // stripes that have nothing under way
  };

  static std::uint64_t share_of(const StripePeer& to, std::uint32_t most);
  static FreeStripe free_stripe(StripePeer& to, const Streams& use);
  OutgoingMessage::Span next_piece(StripePeer& to, OutgoingMessage& message, const FreeStripe& free) const;
  void give(StripePeer& to, OutgoingMessage& message, const FreeStripe& free);
  static void handed(OutgoingMessage& message);
  static void sent_all(OutgoingMessage& message);

  const StripesSettings& settings_;
  const int failure_;
  const StripeCounts& counts_;
  BusyPeriods& periods_;
  StripePool& pool_;
};

}  // namespace urakata::transport
