// SPDX-License-Identifier: BSD-3-Clause
// Exscan: rank r gets the inputs of ranks 0 .. r - 1 combined in rank order; rank 0's receive buffer is left alone.
#include "collectives/algorithms.hpp"
#include "collectives/phases.hpp"

namespace urakata::collectives::exscan {
namespace {

Piece input(const Plan& plan) { return {.buffer = plan.input(), .bytes = plan.arguments().bytes}; }
Piece result(const Plan& plan) { return {.buffer = kRecvBuffer, .bytes = plan.arguments().bytes}; }

}  // namespace

// As scan/recursive_doubling. A rank keeps two partial results: of the row of ranks that ends before it, and of the row
// that ends with it.
Built recursive_doubling(const Arguments& arguments) {
  Plan plan("exscan/recursive_doubling", arguments, kReductionSegment);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  if (r == 0) {
    for (std::uint64_t d = 1; d < n; d *= 2) plan.send(static_cast<std::uint32_t>(d), input(plan));
    return plan.commit();
  }
  // The row that ends with this rank is only made if it will be sent to another rank.
  const bool hands_row_on = r + std::uint64_t{2} < n;
  const Piece row = hands_row_on ? plan.temp(arguments.bytes) : Piece{};
  Nodes row_ready = hands_row_on ? plan.copy(input(plan), row) : Nodes{};
  Nodes sent = r + 1 < n ? plan.send(r + 1, input(plan)) : Nodes{};
  Nodes ready = plan.recv(r - 1, result(plan));
  if (arguments.in_place) {
    plan.each(row_ready, ready);
    plan.each(sent, ready);
  }
  if (hands_row_on) {
    const Nodes reduced = plan.reduce(result(plan), row);
    plan.each(ready, reduced);
    plan.each(row_ready, reduced);
    row_ready = reduced;
  }
  for (std::uint64_t distance = 2; distance < n; distance *= 2) {
    const auto d = static_cast<std::uint32_t>(distance);
    sent = r + distance < n ? plan.send(r + d, row) : Nodes{};
    plan.each(row_ready, sent);
    if (r < distance) continue;
    const Piece lower = plan.inbox(arguments.bytes);
    const Nodes got = plan.recv(r - d, lower);
    const Nodes reduced = plan.reduce(lower, result(plan));
    plan.each(got, reduced);
    plan.each(ready, reduced);
    plan.each(row_ready, reduced);  // the row's first step reads the result
    plan.recycle(lower, reduced, got);
    ready = reduced;
    if (r + 2 * distance < n) {
      const Nodes row_reduced = plan.reduce(lower, row);
      plan.each(got, row_reduced);
      plan.each(row_ready, row_reduced);
      plan.each(sent, row_reduced);
      plan.recycle(lower, row_reduced, got);
      row_ready = row_reduced;
    }
  }
  return plan.commit();
}

// From rank to rank in segments, a window of them under way.
Built chain(const Arguments& arguments) {
  Plan plan("exscan/chain", arguments, kReductionSegment);
  const std::uint32_t r = arguments.rank;
  const bool last = r + 1 == arguments.ranks;
  if (r == 0) {
    if (!last) plan.send(1, input(plan));
    return plan.commit();
  }
  const Nodes got = plan.recv(r - 1, result(plan));
  if (last) return plan.commit();
  const Piece row = plan.inbox(arguments.bytes);
  const Nodes copied = plan.copy(input(plan), row);
  if (arguments.in_place) plan.each(copied, got);
  const Nodes reduced = plan.reduce(result(plan), row);
  plan.each(got, reduced);
  plan.each(copied, reduced);
  const Nodes sent = plan.send(r + 1, row);
  plan.each(reduced, sent);
  plan.recycle(row, sent, copied);
  return plan.commit();
}

Built spread(const Arguments& arguments) {
  Plan plan("exscan/spread", arguments, kReductionSegment);
  const std::uint32_t r = arguments.rank;
  Nodes sent;
  for (std::uint32_t peer = r + 1; peer < arguments.ranks; ++peer) sent = sent + plan.send(peer, input(plan));
  if (r == 0) return plan.commit();
  // In place the result is made in a temporary, since the input is still being sent.
  const Piece made = arguments.in_place ? plan.temp(arguments.bytes) : result(plan);
  const Nodes ready = fold_lower(plan, r - 1, made, plan.recv(r - 1, made));
  if (made != result(plan)) {
    const Nodes moved = plan.copy(made, result(plan));
    plan.each(ready, moved);
    plan.each(sent, moved);
  }
  return plan.commit();
}

}  // namespace urakata::collectives::exscan
