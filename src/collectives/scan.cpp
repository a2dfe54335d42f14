// SPDX-License-Identifier: BSD-3-Clause
// Scan: rank r gets the inputs of ranks 0 .. r combined in rank order.
#include "collectives/algorithms.hpp"
#include "collectives/phases.hpp"

namespace urakata::collectives::scan {
namespace {

Piece input(const Plan& plan) { return {.buffer = plan.input(), .bytes = plan.arguments().bytes}; }
Piece result(const Plan& plan) { return {.buffer = kRecvBuffer, .bytes = plan.arguments().bytes}; }

}  // namespace

// Hillis, Steele 1986: before step k a rank holds the row of 2^k ranks that ends with it, and hands it 2^k ranks up.
Built recursive_doubling(const Arguments& arguments) {
  Plan plan("scan/recursive_doubling", arguments, kReductionSegment);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  Nodes ready = plan.copy(input(plan), result(plan));
  for (std::uint64_t distance = 1; distance < n; distance *= 2) {
    const auto d = static_cast<std::uint32_t>(distance);
    Nodes sent;
    if (r + distance < n) {
      const bool untouched = d == 1 || r == 0;
      sent = plan.send(r + d, untouched ? input(plan) : result(plan));
      if (!untouched) plan.each(ready, sent);
    }
    if (r < distance) continue;
    const Piece lower = plan.inbox(arguments.bytes);
    const Nodes got = plan.recv(r - d, lower);
    const Nodes reduced = plan.reduce(lower, result(plan));
    plan.each(got, reduced);
    plan.each(ready, reduced);
    plan.each(sent, reduced);
    plan.recycle(lower, reduced, got);
    ready = reduced;
  }
  return plan.commit();
}

// From rank to rank, a window of segments under way: every link carries every byte once.
Built chain(const Arguments& arguments) {
  Plan plan("scan/chain", arguments, kReductionSegment);
  const std::uint32_t r = arguments.rank;
  const Nodes placed = plan.copy(input(plan), result(plan));
  if (r == 0) {
    if (arguments.ranks > 1) plan.send(1, input(plan));
    return plan.commit();
  }
  const Piece lower = plan.inbox(arguments.bytes);
  const Nodes got = plan.recv(r - 1, lower);
  const Nodes reduced = plan.reduce(lower, result(plan));
  plan.each(got, reduced);
  plan.each(placed, reduced);
  plan.recycle(lower, reduced, got);
  if (r + 1 < arguments.ranks) plan.each(reduced, plan.send(r + 1, result(plan)));
  return plan.commit();
}

Built spread(const Arguments& arguments) {
  Plan plan("scan/spread", arguments, kReductionSegment);
  const std::uint32_t r = arguments.rank;
  // In place the result is made in a temporary, since the input is still being sent.
  const Piece made = arguments.in_place && r != 0 ? plan.temp(arguments.bytes) : result(plan);
  const Nodes ready = fold_lower(plan, r, made, plan.copy(input(plan), made));
  Nodes sent;
  for (std::uint32_t peer = r + 1; peer < arguments.ranks; ++peer) sent = sent + plan.send(peer, input(plan));
  if (made != result(plan)) {
    const Nodes moved = plan.copy(made, result(plan));
    plan.each(ready, moved);
    plan.each(sent, moved);
  }
  return plan.commit();
}

}  // namespace urakata::collectives::scan
