// SPDX-License-Identifier: BSD-3-Clause
// Receiving by transport `stripes`: which piece belongs to which message, and where it lands.
//
// Thread-safety: under the lock of Stripes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "transport/stripes/stripe_counts.hpp"
#include "transport/stripes/stripe_peer.hpp"
#include "transport/stripes/stripe_pool.hpp"
#include "transport/stripes/stripes_settings.hpp"
#include "transport/transport.hpp"
#include "transport/wire/frame.hpp"

namespace urakata::transport {

class StripeReceiver {
 public:
  // `failure`: the error code of a receive from a peer that has failed, or of a message that is too long for it.
  StripeReceiver(const StripesSettings& settings, int failure, StripeCounts& counts, StripePool& pool)
      : settings_(settings), failure_(failure), counts_(counts), pool_(pool) {}

  // True: it is finished already, with `*error`. Else the waiter is told of its end.
  bool recv(StripePeer& from, const Message& message, const Waiter& waiter, int* error);

  // Where the payload of a piece goes that begins to come by this stripe; nullptr: that frame is not allowed.
  std::byte* place(Stripe& stripe, const Frame& frame);
  // The piece has come. False: that frame is not allowed.
  bool landed(Stripe& stripe, const Frame& frame);
  // Sends clear_to_send again for each posted receive of which pieces have come, but none from behind the first kPush
  // bytes: by every stripe that the peer has made and on which nothing is queued.
  static void tell_all_clear_to_send(StripePeer& from);

  // Gives up the receives of an instance; returns how many there were. Their memory is the caller's again.
  std::size_t cancel(StripePeer& from, const void* instance);
  // Operations of this context of ours have failed: what comes for it from now on is thrown away.
  void note_over(std::int32_t context) { over_.insert(context); }
  // Throws away what has come for such contexts.
  void discard_over(StripePeer& from) const;

 private:
  static void tell_clear_to_send(Stripe& stripe, const IncomingMessage& incoming, const MessageKey& key);
  static void divert_all(StripePeer& from, const MessageKey& key);
  bool is_over(std::int32_t tag) const;

  const StripesSettings& settings_;
  const int failure_;
  StripeCounts& counts_;
  StripePool& pool_;
  std::set<std::int32_t> over_;
};

}  // namespace urakata::transport
