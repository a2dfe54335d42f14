// SPDX-License-Identifier: BSD-3-Clause
// Allreduce: the inputs of all ranks combined in rank order, in the receive buffers of all ranks.
#include "collectives/algorithms.hpp"
#include "collectives/fold.hpp"
#include "collectives/phases.hpp"

namespace urakata::collectives::allreduce {
namespace {

Piece input(const Plan& plan) { return {.buffer = plan.input(), .bytes = plan.arguments().bytes}; }
Piece result(const Plan& plan) { return {.buffer = kRecvBuffer, .bytes = plan.arguments().bytes}; }

// A rank that sits out (fold.hpp) hands its input over and gets the result back, part by part.
void sit_out(Plan& plan, std::uint32_t partner, const std::vector<Piece>& parts) {
  const Nodes sent = plan.send(partner, input(plan), 0);
  std::uint32_t step = 1;
  for (const Piece& part : parts) {
    const Nodes got = plan.recv(partner, part, step++);
    if (plan.arguments().in_place) plan.after(sent, got);
  }
}

}  // namespace

// Thakur, Rabenseifner, Gropp 2005, section 4.5. Partners combine rows of neighbouring ranks, so the order is kept.
Built recursive_doubling(const Arguments& arguments) {
  Plan plan("allreduce/recursive_doubling", arguments, kReductionSegment);
  const std::uint32_t r = arguments.rank;
  const Fold fold(arguments.ranks);
  if (fold.sits_out(r)) {
    sit_out(plan, r - 1, {result(plan)});
    return plan.commit();
  }
  std::vector<Contribution> contributions;
  if (fold.stands_for_two(r)) contributions.push_back({.peer = r + 1});
  for (std::uint32_t distance = 1; distance < fold.active; distance *= 2) {
    const std::uint32_t peer = fold.rank(fold.index(r) ^ distance);
    contributions.push_back({.peer = peer, .left = peer < r, .answer = true});
  }
  const Nodes ready = accumulate(plan, input(plan), result(plan), contributions, 0);
  if (fold.stands_for_two(r)) plan.each(ready, plan.send(r + 1, result(plan), 1));
  return plan.commit();
}

// Rabenseifner 2004: reduce-scatter by recursive halving, allgather by recursive doubling back the same way. Neighbours
// exchange the largest halves (Fold::turned()), so two nodes of two ranks exchange half of what they would otherwise.
Built rabenseifner(const Arguments& arguments) {
  if (!arguments.commutative) return needs_commutativity("allreduce/rabenseifner");
  Plan plan("allreduce/rabenseifner", arguments, kReductionSegment);
  const std::uint32_t r = arguments.rank;
  const Fold fold(arguments.ranks);
  const Partition parts = Partition::even(arguments.bytes, arguments.element, fold.active);
  if (arguments.ranks == 1) {
    plan.copy(input(plan), result(plan));
    return plan.commit();
  }
  const std::uint32_t index = fold.turned(fold.index(fold.sits_out(r) ? r - 1 : r));
  if (fold.sits_out(r)) {
    // The partner passes on each part as soon as it has it: its own, then the received halves, the shortest first.
    std::vector<Piece> pieces{parts.block(kRecvBuffer, index)};
    for (std::uint32_t distance = 1; distance < fold.active; distance *= 2) {
      const std::uint32_t first = (index ^ distance) / distance * distance;
      pieces.push_back(parts.range(kRecvBuffer, first, first + distance));
    }
    sit_out(plan, r - 1, pieces);
    return plan.commit();
  }

  BufferId source = plan.input();
  Nodes ready;
  if (fold.stands_for_two(r)) {
    const Contribution other{.peer = r + 1};
    ready = accumulate(plan, input(plan), result(plan), {&other, 1}, 0);
    source = kRecvBuffer;
  }
  const Halving halving = halve(
      plan, parts, index, [&](std::uint32_t i) { return fold.rank(fold.turned(i)); }, source, kRecvBuffer, ready, 1,
      fold.active);

  const auto pass_on = [&](const Nodes& have, const Piece& piece, std::uint32_t step) {
    if (fold.stands_for_two(r)) plan.after(have, plan.send(r + 1, piece, step));
  };
  Nodes have = halving.ready;
  pass_on(have, parts.block(kRecvBuffer, index), 1);
  std::uint32_t step = 2;
  for (auto s = halving.steps.rbegin(); s != halving.steps.rend(); ++s, ++step) {
    plan.after(have, plan.send(s->peer, parts.range(kRecvBuffer, s->keep_first, s->keep_last)));
    const Piece other = parts.range(kRecvBuffer, s->give_first, s->give_last);
    const Nodes got = plan.recv(s->peer, other);
    plan.after(s->gave, got);
    pass_on(got, other, step);
    have = have + got;
  }
  return plan.commit();
}

// Patarasuk, Yuan 2009: reduce-scatter, then allgather, both round a ring and cut into segments.
Built ring(const Arguments& arguments) {
  if (!arguments.commutative) return needs_commutativity("allreduce/ring");
  Plan plan("allreduce/ring", arguments, kReductionSegment);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  if (n == 1) {
    plan.copy(input(plan), result(plan));
    return plan.commit();
  }
  const Partition blocks = Partition::even(arguments.bytes, arguments.element, n);
  const std::uint32_t mine = (r + 1) % n;
  const auto target = [&](std::uint32_t b) { return blocks.block(kRecvBuffer, b); };
  Ring way{.ranks = n, .left = (r + n - 1) % n, .right = (r + 1) % n};
  const RingReduced reduced = ring_reduce(
      plan, way,
      {.last = mine, .source = [&](std::uint32_t b) { return blocks.block(plan.input(), b); }, .target = target});
  way.step = n - 1;
  ring_gather(plan, way,
              {.own = mine,
               .sends = n - 1,
               .recvs = n - 1,
               .own_piece = target(mine),
               .block = target,
               .ready = [&](std::uint32_t) { return reduced.ready; },
               .free = [&](std::uint32_t b) { return reduced.sent[b]; }});
  return plan.commit();
}

// Each rank sends its input to all others at once and combines all inputs, from the last rank down to rank 0: one step.
Built spread(const Arguments& arguments) {
  Plan plan("allreduce/spread", arguments, kReductionSegment);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  const bool move = arguments.in_place && n > 1;  // the input is still being sent when the result is made
  const Piece made = move ? plan.temp(arguments.bytes) : result(plan);
  Nodes sent;
  std::vector<Nodes> got(n);
  std::vector<Piece> from(n);
  for (std::uint32_t peer = n; peer-- > 0;) {
    if (peer == r) {
      from[peer] = input(plan);
      continue;
    }
    from[peer] = peer + 1 == n ? made : plan.inbox(arguments.bytes);
    got[peer] = plan.recv(peer, from[peer]);
  }
  for (std::uint32_t i = 1; i < n; ++i) sent = sent + plan.send((r + i) % n, input(plan));
  Nodes ready = r + 1 == n ? plan.copy(input(plan), made) : got[n - 1];
  for (std::uint32_t peer = n - 1; peer-- > 0;) {
    const Nodes reduced = plan.reduce(from[peer], made);
    plan.each(ready, reduced);
    plan.each(got[peer], reduced);
    if (peer != r) plan.recycle(from[peer], reduced, got[peer]);
    ready = reduced;
  }
  if (move) {
    const Nodes moved = plan.copy(made, result(plan));
    plan.each(ready, moved);
    plan.each(sent, moved);
  }
  return plan.commit();
}

// A reduction to rank 0 in rank order along a binomial tree, then a broadcast along the same tree.
Built reduce_bcast(const Arguments& arguments) {
  Plan plan("allreduce/reduce_bcast", arguments, kReductionSegment);
  const Nodes reduced = tree_reduce(plan, 0, input(plan), result(plan), 0);
  // On other ranks than 0, `reduced` reads the input. In place that must be finished before the result is received.
  const bool wait = arguments.rank == 0 || arguments.in_place;
  tree_bcast(plan, 2, 0, result(plan), wait ? reduced : Nodes{}, 1);
  return plan.commit();
}

}  // namespace urakata::collectives::allreduce
