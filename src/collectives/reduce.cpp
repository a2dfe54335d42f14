// SPDX-License-Identifier: BSD-3-Clause
// Reduce: the inputs of all ranks combined in rank order, in the root's receive buffer.
#include <optional>

#include "collectives/algorithms.hpp"
#include "collectives/fold.hpp"
#include "collectives/phases.hpp"

namespace urakata::collectives::reduce {
namespace {

Piece input(const Plan& plan) { return {.buffer = plan.input(), .bytes = plan.arguments().bytes}; }
Piece result(const Plan& plan) { return {.buffer = kRecvBuffer, .bytes = plan.arguments().bytes}; }

// Sends this rank's input to rank `on`, combined with what comes from rank `right` if there is one.
void relay(Plan& plan, std::optional<std::uint32_t> right, std::uint32_t on) {
  if (!right) {
    plan.send(on, input(plan));
    return;
  }
  const Piece landing = plan.inbox(plan.arguments().bytes);
  const Nodes got = plan.recv(*right, landing);
  const Nodes made = plan.reduce(input(plan), landing);
  const Nodes sent = plan.send(on, landing);
  plan.each(got, made);
  plan.each(made, sent);
  plan.recycle(landing, sent, got);
}

}  // namespace

Built binomial(const Arguments& arguments) {
  Plan plan("reduce/binomial", arguments);
  tree_reduce(plan, arguments.root, input(plan), result(plan), 0);
  return plan.commit();
}

// From rank to rank towards the root in segments, a window of them under way. If the operation does not commute, there
// are two chains: from the last rank down to the root, and from rank 0 up to the root.
Built chain(const Arguments& arguments) {
  Plan plan("reduce/chain", arguments, kReductionSegment);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  const std::uint32_t root = arguments.root;
  if (r == root) {
    std::vector<Contribution> sides;
    if (arguments.commutative) {
      if (n > 1) sides.push_back({.peer = (root + 1) % n});
    } else {
      if (root + 1 < n) sides.push_back({.peer = root + 1});
      if (root > 0) sides.push_back({.peer = root - 1, .left = true});
    }
    accumulate(plan, input(plan), result(plan), sides, 0);
  } else if (arguments.commutative) {
    const std::uint32_t right = (r + 1) % n;
    relay(plan, right == root ? std::nullopt : std::optional(right), (r + n - 1) % n);
  } else if (r > root) {
    relay(plan, r + 1 == n ? std::nullopt : std::optional(r + 1), r - 1);
  } else if (r == 0) {
    plan.send(r + 1, input(plan));
  } else {
    // The received part is the left operand, so the own input is copied, chunk by chunk, to where the result is made.
    const Piece partial = plan.temp(arguments.bytes);
    const Contribution lower{.peer = r - 1, .left = true};
    plan.each(accumulate(plan, input(plan), partial, {&lower, 1}, 0), plan.send(r + 1, partial));
  }
  return plan.commit();
}

// Rabenseifner 2004: recursive halving leaves every rank a part of the result, a binomial tree gathers the parts.
// Commutative operations only. Ranks are counted from the root, so the root never sits out (fold.hpp).
Built rabenseifner(const Arguments& arguments) {
  if (!arguments.commutative) return needs_commutativity("reduce/rabenseifner");
  Plan plan("reduce/rabenseifner", arguments, kReductionSegment);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t me = (arguments.rank + n - arguments.root) % n;
  const Fold fold(n);
  const auto real = [&](std::uint32_t v) { return (v + arguments.root) % n; };
  if (n == 1) {
    plan.copy(input(plan), result(plan));
    return plan.commit();
  }
  if (fold.sits_out(me)) {
    plan.send(real(me - 1), input(plan));
    return plan.commit();
  }

  BufferId source = plan.input();
  const BufferId work = me == 0 ? kRecvBuffer : plan.temp(arguments.bytes).buffer;
  Nodes ready;
  if (fold.stands_for_two(me)) {
    const Contribution other{.peer = real(me + 1)};
    ready = accumulate(plan, input(plan), {.buffer = work, .bytes = arguments.bytes}, {&other, 1}, 0);
    source = work;
  }
  const std::uint32_t index = fold.turned(fold.index(me));  // large halves to neighbours
  const Partition parts = Partition::even(arguments.bytes, arguments.element, fold.active);
  const Halving halving = halve(
      plan, parts, index, [&](std::uint32_t i) { return real(fold.rank(fold.turned(i))); }, source, work, ready, 1,
      fold.active);

  // The gather goes back through the steps: the partner with the upper half sends what it has, the other goes on.
  Nodes have = halving.ready;
  for (auto step = halving.steps.rbegin(); step != halving.steps.rend(); ++step) {
    const Piece kept = parts.range(work, step->keep_first, step->keep_last);
    if (step->keep_first > step->give_first) {
      plan.after(have, plan.send(step->peer, kept));
      break;
    }
    const Nodes got = plan.recv(step->peer, parts.range(work, step->give_first, step->give_last));
    plan.after(step->gave, got);
    have = have + got;
  }
  return plan.commit();
}

Built linear(const Arguments& arguments) {
  Plan plan("reduce/linear", arguments, kReductionSegment);
  const std::uint32_t root = arguments.root;
  if (arguments.rank != root) {
    plan.send(root, input(plan));
    return plan.commit();
  }
  std::vector<Contribution> contributions;
  for (std::uint32_t peer = root + 1; peer < arguments.ranks; ++peer) contributions.push_back({.peer = peer});
  for (std::uint32_t peer = root; peer-- > 0;) contributions.push_back({.peer = peer, .left = true});
  accumulate(plan, input(plan), result(plan), contributions, 0);
  return plan.commit();
}

}  // namespace urakata::collectives::reduce
