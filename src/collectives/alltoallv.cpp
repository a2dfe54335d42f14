// SPDX-License-Identifier: BSD-3-Clause
// Alltoallv: blocks of any size, from and to any displacement; in place, from the receive buffer to the receive buffer.
#include "collectives/exchange.hpp"

namespace urakata::collectives::alltoallv {
namespace {

Piece block(BufferId buffer, const Blocks& blocks, std::uint32_t rank) {
  return {.buffer = buffer, .offset = blocks.displacements[rank], .bytes = blocks.bytes[rank]};
}

Exchange blocks(const Arguments& arguments) {
  const auto in = [recv = arguments.recv](std::uint32_t rank) { return block(kRecvBuffer, recv, rank); };
  if (arguments.in_place) return {.out = in, .in = in};
  return {.out = [send = arguments.send](std::uint32_t rank) { return block(kSendBuffer, send, rank); }, .in = in};
}

}  // namespace

Built pairwise(const Arguments& arguments) {
  return exchange_all("alltoallv/pairwise", arguments, blocks(arguments), kPairwiseAhead);
}

Built spread(const Arguments& arguments) { return exchange_all("alltoallv/spread", arguments, blocks(arguments), 0); }

}  // namespace urakata::collectives::alltoallv
