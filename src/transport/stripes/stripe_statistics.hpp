// SPDX-License-Identifier: BSD-3-Clause
// What the kernel has counted on the stripes to a peer.
//
// Thread-safety: under the lock of Stripes.
#pragma once

#include "transport/stripes/stripe_peer.hpp"
#include "transport/stripes/stripe_traffic.hpp"
#include "transport/wire/tcp_facts.hpp"

namespace urakata::transport {

// `facts`: what the kernel knows of a socket.
StripePackets packets_to(const StripePeer& peer, TcpFacts (*facts)(int socket));
// What our stripes to the peer have carried since the last call for this peer.
StripeIncrease carried_since(StripePeer& peer, TcpFacts (*facts)(int socket));

}  // namespace urakata::transport
