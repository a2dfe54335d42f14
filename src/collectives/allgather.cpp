// SPDX-License-Identifier: BSD-3-Clause
// Allgather: the blocks of all ranks to the receive buffers of all ranks, in rank order. Every block is received in its
// final place. All receives are posted at the start, except that ring posts a bounded number ahead.
#include <algorithm>

#include "collectives/algorithms.hpp"
#include "collectives/fold.hpp"
#include "collectives/phases.hpp"

namespace urakata::collectives::allgather {
namespace {

// The blocks [first, last) of the receive buffer.
Piece blocks(const Plan& plan, std::uint32_t first, std::uint32_t last) {
  const std::uint64_t block = plan.arguments().bytes;
  return {.buffer = kRecvBuffer, .offset = static_cast<std::int64_t>(first * block), .bytes = (last - first) * block};
}

// The place at which the own block can be read from the start.
Piece own_block(const Plan& plan) {
  if (plan.arguments().in_place) return blocks(plan, plan.rank(), plan.rank() + 1);
  return {.buffer = kSendBuffer, .bytes = plan.arguments().bytes};
}

Nodes place_own(Plan& plan) { return plan.copy(own_block(plan), blocks(plan, plan.rank(), plan.rank() + 1)); }

}  // namespace

Built ring(const Arguments& arguments) {
  Plan plan("allgather/ring", arguments);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  place_own(plan);
  ring_gather(plan, {.ranks = n, .left = (r + n - 1) % n, .right = (r + 1) % n},
              {.own = r,
               .sends = n - 1,
               .recvs = n - 1,
               .own_piece = own_block(plan),
               .block = [&](std::uint32_t b) { return blocks(plan, b, b + 1); },
               .ready = [](std::uint32_t) { return Nodes{}; },
               .free = [](std::uint32_t) { return Nodes{}; }});
  return plan.commit();
}

// All messages at once, each straight to its receiver.
Built spread(const Arguments& arguments) {
  Plan plan("allgather/spread", arguments);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  for (std::uint32_t i = 1; i < n; ++i) {
    const std::uint32_t peer = (r + n - i) % n;
    plan.recv(peer, blocks(plan, peer, peer + 1));
  }
  for (std::uint32_t i = 1; i < n; ++i) plan.send((r + i) % n, own_block(plan));
  place_own(plan);
  return plan.commit();
}

// Thakur, Rabenseifner, Gropp 2005, section 4.1. Rank 2^k + i gives its block to rank i, which carries it along and in
// the end sends the other blocks back. So a rank holds two rows of blocks.
Built recursive_doubling(const Arguments& arguments) {
  Plan plan("allgather/recursive_doubling", arguments);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  const Fold fold(n);
  const std::uint32_t active = fold.active;
  const Nodes placed = place_own(plan);
  if (r >= active) {
    plan.send(r - active, own_block(plan));
    plan.recv(r - active, blocks(plan, 0, r), 0);
    plan.recv(r - active, blocks(plan, r + 1, n), 1);
    return plan.commit();
  }
  const bool carries = r + active < n;
  Nodes have = placed;
  if (carries) have = have + plan.recv(r + active, blocks(plan, r + active, r + active + 1));
  // Two rows: blocks [first, last) of the active ranks, and of the ranks that these carry.
  const auto rows = [&](std::uint32_t first, std::uint32_t last) {
    return std::vector{blocks(plan, first, last),
                       blocks(plan, std::min(n, active + first), std::min(n, active + last))};
  };
  for (std::uint32_t distance = 1; distance < active; distance *= 2) {
    const std::uint32_t peer = r ^ distance;
    const std::uint32_t mine = r / distance * distance;
    const std::uint32_t theirs = peer / distance * distance;
    std::uint32_t step = 0;
    for (const Piece& row : rows(mine, mine + distance)) {
      // The first exchange need not wait until the own block is copied to its place.
      const bool first = distance == 1 && step == 0;
      const Nodes sent = plan.send(peer, first ? own_block(plan) : row, step++);
      if (!first) plan.after(have, sent);
    }
    step = 0;
    Nodes got;
    for (const Piece& row : rows(theirs, theirs + distance)) got = got + plan.recv(peer, row, step++);
    have = have + got;
  }
  if (carries) {
    plan.after(have, plan.send(r + active, blocks(plan, 0, r + active), 0));
    plan.after(have, plan.send(r + active, blocks(plan, r + active + 1, n), 1));
  }
  return plan.commit();
}

// Bruck et al. 1997, for any number of ranks. In step k rank r gets blocks r + 2^k ... from rank r + 2^k. No buffer is
// rotated. Instead, a row of blocks that passes the last rank goes in two messages, each to its final place.
Built bruck(const Arguments& arguments) {
  Plan plan("allgather/bruck", arguments);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  const auto row = [&](std::uint32_t first, std::uint32_t count) {
    if (first + count <= n) return std::vector{blocks(plan, first, first + count)};
    return std::vector{blocks(plan, first, n), blocks(plan, 0, first + count - n)};
  };
  Nodes have = place_own(plan);
  for (std::uint32_t held = 1; held < n; held *= 2) {
    const std::uint32_t count = std::min(held, n - held);
    const std::uint32_t from = (r + held) % n;
    const std::uint32_t to = (r + n - held) % n;
    std::uint32_t step = 0;
    if (held == 1) {
      plan.send(to, own_block(plan));
    } else {
      for (const Piece& piece : row(r, count)) plan.after(have, plan.send(to, piece, step++));
    }
    step = 0;
    for (const Piece& piece : row(from, count)) have = have + plan.recv(from, piece, step++);
  }
  return plan.commit();
}

// Chen et al., Performance evaluation of allgather algorithms on terascale Linux cluster, 2005: n/2 steps between
// neighbours. With an odd number of ranks the last one is fed by its left neighbour, which counts for two.
Built neighbour_exchange(const Arguments& arguments) {
  Plan plan("allgather/neighbour_exchange", arguments);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  const std::uint32_t m = n / 2 * 2;  // ranks that exchange
  const Nodes placed = place_own(plan);
  if (n == 1) return plan.commit();
  const bool guest = n != m && r == m;
  const bool feeds = n != m && r + 1 == m;
  const auto pair = [&](std::uint32_t p) { return blocks(plan, 2 * p, 2 * p + 2 == m ? n : 2 * p + 2); };
  const std::uint32_t pairs = m / 2;

  // In step 0 the two ranks of a pair exchange blocks. In step s >= 1 an even rank gets the pair of blocks at distance
  // 1, 2, ... on alternating sides, which its neighbour there got in the step before. Odd ranks do the same mirrored.
  const auto exchanger = [&](std::uint32_t rank) {
    struct Step {
      std::uint32_t peer;
      std::uint32_t pair;  // received
    };
    std::vector<Step> steps;
    const bool even = rank % 2 == 0;
    const std::uint32_t left = (rank + m - 1) % m;
    const std::uint32_t right = (rank + 1) % m;
    for (std::uint32_t s = 1; s < pairs; ++s) {
      const std::uint32_t reach = (s + 1) / 2;
      const bool to_left = even == (s % 2 == 1);
      steps.push_back(
          {to_left ? left : right, to_left ? (rank / 2 + pairs - reach) % pairs : (rank / 2 + reach) % pairs});
    }
    return steps;
  };

  if (guest) {
    const std::uint32_t partner = m - 1;
    plan.send(partner, own_block(plan));
    plan.recv(partner, blocks(plan, m - 2, m));
    std::uint32_t step = 1;
    for (const auto& s : exchanger(partner)) plan.recv(partner, pair(s.pair), step++);
    return plan.commit();
  }

  const std::uint32_t partner = r ^ 1u;
  Nodes have = placed;
  if (feeds) {
    const Nodes joined = plan.recv(m, blocks(plan, m, n));
    plan.send(partner, own_block(plan), 0);
    plan.after(joined, plan.send(partner, blocks(plan, m, n), 1));
    have = have + joined;
  } else {
    plan.send(partner, own_block(plan), 0);
  }
  Nodes got = plan.recv(partner, blocks(plan, partner, partner + 1), 0);
  if (n != m && partner + 1 == m) got = got + plan.recv(partner, blocks(plan, m, n), 1);
  have = have + got;
  if (feeds) plan.after(placed + got, plan.send(m, blocks(plan, m - 2, m)));

  Piece last = pair(r / 2);
  std::uint32_t step = 2;
  std::uint32_t fed = 1;
  for (const auto& s : exchanger(r)) {
    plan.after(have, plan.send(s.peer, last, step));
    last = pair(s.pair);
    have = plan.recv(s.peer, last, step++);
    if (feeds) plan.after(have, plan.send(m, last, fed++));
  }
  return plan.commit();
}

}  // namespace urakata::collectives::allgather
