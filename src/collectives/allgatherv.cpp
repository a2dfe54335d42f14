// SPDX-License-Identifier: BSD-3-Clause
// Allgatherv: the blocks of all ranks, of any size, to the receive buffers of all ranks, each at its displacement.
#include <algorithm>

#include "collectives/algorithms.hpp"
#include "collectives/phases.hpp"

namespace urakata::collectives::allgatherv {
namespace {

Piece block(const Arguments& arguments, std::uint32_t rank) {
  return {.buffer = kRecvBuffer, .offset = arguments.recv.displacements[rank], .bytes = arguments.recv.bytes[rank]};
}

Piece own_block(const Arguments& arguments) {
  if (arguments.in_place) return block(arguments, arguments.rank);
  return {.buffer = kSendBuffer, .bytes = arguments.recv.bytes[arguments.rank]};
}

}  // namespace

Built ring(const Arguments& arguments) {
  Plan plan("allgatherv/ring", arguments);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  plan.copy(own_block(arguments), block(arguments, r));
  ring_gather(plan, {.ranks = n, .left = (r + n - 1) % n, .right = (r + 1) % n},
              {.own = r,
               .sends = n - 1,
               .recvs = n - 1,
               .own_piece = own_block(arguments),
               .block = [&](std::uint32_t b) { return block(arguments, b); },
               .ready = [](std::uint32_t) { return Nodes{}; },
               .free = [](std::uint32_t) { return Nodes{}; }});
  return plan.commit();
}

Built spread(const Arguments& arguments) {
  Plan plan("allgatherv/spread", arguments);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  for (std::uint32_t i = 1; i < n; ++i) plan.recv((r + n - i) % n, block(arguments, (r + n - i) % n));
  for (std::uint32_t i = 1; i < n; ++i) plan.send((r + i) % n, own_block(arguments));
  plan.copy(own_block(arguments), block(arguments, r));
  return plan.commit();
}

// Bruck et al. 1997. The blocks may lie anywhere in the receive buffer, so they travel in a temporary that holds them
// one after another, beginning with the own one. Each is copied to its place as soon as it has arrived.
Built bruck(const Arguments& arguments) {
  Plan plan("allgatherv/bruck", arguments);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  std::vector<std::uint64_t> rotated(n);
  for (std::uint32_t i = 0; i < n; ++i) rotated[i] = arguments.recv.bytes[(r + i) % n];
  const Partition row = Partition::of(rotated);
  const BufferId buffer = plan.temp(row.total()).buffer;

  plan.copy(own_block(arguments), block(arguments, r));
  Nodes have = plan.copy(own_block(arguments), row.block(buffer, 0));
  for (std::uint32_t held = 1; held < n; held *= 2) {
    const std::uint32_t count = std::min(held, n - held);
    const std::uint32_t to = (r + n - held) % n;
    if (held == 1) {
      plan.send(to, own_block(arguments));
    } else {
      plan.after(have, plan.send(to, row.range(buffer, 0, count)));
    }
    const Nodes got = plan.recv((r + held) % n, row.range(buffer, held, held + count));
    for (std::uint32_t i = held; i < held + count; ++i) {
      plan.after(got, plan.copy(row.block(buffer, i), block(arguments, (r + i) % n)));
    }
    have = have + got;
  }
  return plan.commit();
}

}  // namespace urakata::collectives::allgatherv
