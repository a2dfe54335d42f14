// SPDX-License-Identifier: BSD-3-Clause
// Events and frames of stripes: each goes to the sender, the receiver or the pool.
//
// Thread-safety: under the lock of Stripes.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/failures.hpp"
#include "transport/stripes/stripe_counts.hpp"
#include "transport/stripes/stripe_pool.hpp"
#include "transport/stripes/stripe_receiver.hpp"
#include "transport/stripes/stripe_sender.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

class StripeFrames final : private Connection::Sink {
 public:
  StripeFrames(const Wire& wire, Failures& failures, StripeCounts& counts, StripePool& pool, StripeSender& sender,
               StripeReceiver& receiver)
      : wire_(wire), failures_(failures), counts_(counts), pool_(pool), sender_(sender), receiver_(receiver) {}

  // Serves these epoll events of the stripe. The stripe may be lost and destroyed by this call.
  void serve(Stripe& stripe, std::uint32_t events);

 private:
  std::byte* place(Connection& from, const Frame& frame) override;
  bool arrived(Connection& from, const Frame& frame) override;

  const Wire& wire_;
  Failures& failures_;
  StripeCounts& counts_;
  StripePool& pool_;
  StripeSender& sender_;
  StripeReceiver& receiver_;
  std::vector<Connection::Outgoing> gone_;  // for flush(): nobody waits for any
};

}  // namespace urakata::transport
