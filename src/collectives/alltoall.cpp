// SPDX-License-Identifier: BSD-3-Clause
// Alltoall: block j of rank i's send buffer becomes block i of rank j's receive buffer.
#include "collectives/exchange.hpp"

namespace urakata::collectives::alltoall {
namespace {

Exchange blocks(const Arguments& arguments) {
  const auto at = [bytes = arguments.bytes](BufferId buffer, std::uint32_t rank) {
    return Piece{.buffer = buffer, .offset = static_cast<std::int64_t>(rank * bytes), .bytes = bytes};
  };
  const BufferId out = arguments.in_place ? kRecvBuffer : kSendBuffer;
  return {.out = [at, out](std::uint32_t rank) { return at(out, rank); },
          .in = [at](std::uint32_t rank) { return at(kRecvBuffer, rank); }};
}

}  // namespace

Built pairwise(const Arguments& arguments) {
  return exchange_all("alltoall/pairwise", arguments, blocks(arguments), kPairwiseAhead);
}

Built spread(const Arguments& arguments) { return exchange_all("alltoall/spread", arguments, blocks(arguments), 0); }

// Bruck et al. 1997: blocks are numbered by the distance from sender to receiver. In step k the blocks with bit k set
// go 2^k ranks further, in one message. Messages are packed from, and unpacked to, a temporary in order of distance.
Built bruck(const Arguments& arguments) {
  Plan plan("alltoall/bruck", arguments);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  const std::uint64_t block = arguments.bytes;
  if (block == 0) return plan.commit();
  const auto bytes_of = [&](std::uint64_t count) { return count * block; };
  const auto offset_of = [&](std::uint64_t index) { return static_cast<std::int64_t>(index * block); };

  // The blocks in order of distance: block i is for rank r + i.
  const BufferId row = plan.temp(bytes_of(n)).buffer;
  Nodes have = plan.copy({.buffer = plan.input(), .offset = offset_of(r), .bytes = bytes_of(n - r)},
                         {.buffer = row, .bytes = bytes_of(n - r)});
  have = have + plan.copy({.buffer = plan.input(), .bytes = bytes_of(r)},
                          {.buffer = row, .offset = offset_of(n - r), .bytes = bytes_of(r)});
  const Nodes read = have;

  for (std::uint32_t bit = 1; bit < n; bit *= 2) {
    // Runs of `bit` blocks, one every 2 * bit; the last one may be shorter.
    const std::uint32_t full = n / (2 * bit);
    const std::uint32_t rest = n % (2 * bit) > bit ? n % (2 * bit) - bit : 0;
    const std::uint32_t moved = full * bit + rest;
    const schedule::Chunks runs{.count = full + (rest != 0 ? 1 : 0),
                                .bytes = bytes_of(full != 0 ? bit : rest),
                                .last_bytes = bytes_of(rest != 0 ? rest : bit)};
    const BufferId packed = plan.temp(bytes_of(moved)).buffer;
    const BufferId received = plan.temp(bytes_of(moved)).buffer;
    const schedule::Place spread_out{
        .buffer = row, .offset = offset_of(bit), .stride = offset_of(std::uint64_t{2} * bit)};
    const schedule::Place out{.buffer = packed, .stride = offset_of(bit)};
    const schedule::Place in{.buffer = received, .stride = offset_of(bit)};
    const Nodes pack{plan.builder().copy(spread_out, out, runs)};
    plan.after(have, pack);
    plan.after(pack, plan.send((r + bit) % n, {.buffer = packed, .bytes = bytes_of(moved)}));
    const Nodes got = plan.recv((r + n - bit) % n, {.buffer = received, .bytes = bytes_of(moved)});
    const Nodes unpack{plan.builder().copy(in, spread_out, runs)};
    plan.after(pack + got, unpack);
    have = unpack;
  }

  // Block i has come from rank r - i: down from r to 0, then from n - 1 to r + 1.
  const schedule::Chunks to_zero{.count = r + 1, .bytes = block, .last_bytes = block};
  Nodes placed{plan.builder().copy({.buffer = row, .stride = offset_of(1)},
                                   {.buffer = kRecvBuffer, .offset = offset_of(r), .stride = -offset_of(1)}, to_zero)};
  if (r + 1 < n) {
    const schedule::Chunks others{.count = n - r - 1, .bytes = block, .last_bytes = block};
    placed.push_back(plan.builder().copy({.buffer = row, .offset = offset_of(r + 1), .stride = offset_of(1)},
                                         {.buffer = kRecvBuffer, .offset = offset_of(n - 1), .stride = -offset_of(1)},
                                         others));
  }
  plan.after(have + read, placed);
  return plan.commit();
}

}  // namespace urakata::collectives::alltoall
