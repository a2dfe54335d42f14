// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/stripe_statistics.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace urakata::transport {

StripePackets packets_to(const StripePeer& peer, TcpFacts (*facts)(int socket)) {
  StripePackets all;
  for (const Stripe& stripe : peer.stripes) {
    if (!stripe.out || stripe.connection->broken()) continue;
    const TcpFacts known = facts(stripe.connection->socket());
    all.sent += known.data_segments_out;
    all.again += known.sent_again;
    if (known.bytes_acked != 0) {
      all.arrived += known.bytes_acked + std::uint64_t{known.selectively} * known.send_segment;
    }
  }
  return all;
}

StripeIncrease carried_since(StripePeer& peer, TcpFacts (*facts)(int socket)) {
  StripeIncrease all;
  for (Stripe& stripe : peer.stripes) {
    if (!stripe.sends()) continue;
    const TcpFacts known = facts(stripe.connection->socket());
    const StripeIncrease now{.bytes = known.bytes_acked, .us = carrying_us(known)};
    const StripeIncrease before = std::exchange(stripe.told_carried, now);
    all.bytes += now.bytes - before.bytes;
    all.us = std::max(all.us, now.us - std::min(now.us, before.us));
  }
  return all;
}

}  // namespace urakata::transport
