// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter: the inputs of all ranks combined in rank order; rank r gets block r of the result.
// Reduce_scatter_block is the same with equal blocks.
#include <algorithm>

#include "collectives/algorithms.hpp"
#include "collectives/fold.hpp"
#include "collectives/phases.hpp"

namespace urakata::collectives {
namespace {

constexpr std::size_t kSendsAhead = 8;
constexpr std::uint32_t kRingTemporaries = 4;

Piece whole_input(const Plan& plan, const Partition& blocks) {
  return {.buffer = plan.input(), .bytes = blocks.total()};
}

// The result's place. In place it overlaps input that is still read, so the result is made in making_place() and copied
// here by put().
Piece final_place(const Plan& plan, const Partition& blocks) {
  return {.buffer = kRecvBuffer, .bytes = blocks.block(kRecvBuffer, plan.rank()).bytes};
}
Piece making_place(Plan& plan, const Partition& blocks) {
  const Piece place = final_place(plan, blocks);
  return plan.arguments().in_place ? plan.temp(place.bytes) : place;
}
void put(Plan& plan, const Partition& blocks, const Piece& made, const Nodes& ready, const Nodes& input_read) {
  const Nodes moved = plan.copy(made, final_place(plan, blocks));
  plan.after(ready, moved);
  if (plan.arguments().in_place) plan.after(input_read, moved);
}

// Each rank gets the contributions to its block straight from all ranks, and combines them; in rank order unless the
// operation commutes.
Built pairwise(const char* name, const Arguments& arguments, const Partition& blocks) {
  Plan plan(name, arguments, kReductionSegment);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  std::vector<Contribution> contributions;
  if (arguments.commutative) {
    for (std::uint32_t i = 1; i < n; ++i) contributions.push_back({.peer = (r + n - i) % n});
  } else {
    for (std::uint32_t peer = r + 1; peer < n; ++peer) contributions.push_back({.peer = peer});
    for (std::uint32_t peer = r; peer-- > 0;) contributions.push_back({.peer = peer, .left = true});
  }
  std::vector<Nodes> sent;
  Nodes read;
  for (std::uint32_t i = 1; i < n; ++i) {
    const std::uint32_t peer = (r + i) % n;
    const Nodes nodes = plan.send(peer, blocks.block(plan.input(), peer));
    if (sent.size() >= kSendsAhead) plan.after(sent[sent.size() - kSendsAhead], nodes);
    sent.push_back(nodes);
    read = read + nodes;
  }
  const Piece made = making_place(plan, blocks);
  put(plan, blocks, made, accumulate(plan, blocks.block(plan.input(), r), made, contributions, 0), read);
  return plan.commit();
}

// Thakur, Rabenseifner, Gropp 2005, section 4.3. A rank that stands for two (fold.hpp) ends up with the blocks of both.
Built recursive_halving(const char* name, const Arguments& arguments, const Partition& blocks) {
  if (!arguments.commutative) return needs_commutativity(name);
  Plan plan(name, arguments, kReductionSegment);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  const Fold fold(n);
  if (n == 1) {
    plan.copy(whole_input(plan, blocks), final_place(plan, blocks));
    return plan.commit();
  }
  if (fold.sits_out(r)) {
    const Nodes sent = plan.send(r - 1, whole_input(plan, blocks));
    const Nodes got = plan.recv(r - 1, final_place(plan, blocks));
    if (arguments.in_place) plan.after(sent, got);
    return plan.commit();
  }
  const BufferId work = plan.temp(blocks.total()).buffer;
  BufferId source = plan.input();
  Nodes ready;
  if (fold.stands_for_two(r)) {
    const Contribution other{.peer = r + 1};
    ready = accumulate(plan, whole_input(plan, blocks), {.buffer = work, .bytes = blocks.total()}, {&other, 1}, 0);
    source = work;
  }
  std::vector<std::uint32_t> ends;
  for (std::uint32_t i = 0; i < fold.active; ++i) ends.push_back(fold.rank(i) + (i < fold.extra ? 2 : 1));
  const Halving halving = halve(
      plan, blocks.grouped(ends), fold.index(r), [&](std::uint32_t i) { return fold.rank(i); }, source, work, ready, 1,
      fold.active);
  if (fold.stands_for_two(r)) plan.after(halving.ready, plan.send(r + 1, blocks.block(work, r + 1)));
  put(plan, blocks, blocks.block(work, r), halving.ready, halving.source_read);
  return plan.commit();
}

Built ring(const char* name, const Arguments& arguments, const Partition& blocks) {
  if (!arguments.commutative) return needs_commutativity(name);
  Plan plan(name, arguments, kReductionSegment);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  if (n <= 1) {
    plan.copy(whole_input(plan, blocks), final_place(plan, blocks));
    return plan.commit();
  }
  std::uint64_t largest = 0;
  for (std::uint32_t b = 0; b < n; ++b) largest = std::max(largest, blocks.block(0, b).bytes);
  std::vector<BufferId> turn;
  for (std::uint32_t i = 0; i < std::min(kRingTemporaries, n - 1); ++i) turn.push_back(plan.temp(largest).buffer);
  const Piece made = making_place(plan, blocks);
  const RingReduced reduced =
      ring_reduce(plan, {.ranks = n, .left = (r + n - 1) % n, .right = (r + 1) % n},
                  {.last = r,
                   .source = [&](std::uint32_t b) { return blocks.block(plan.input(), b); },
                   .target =
                       [&](std::uint32_t b) {
                         if (b == r) return made;
                         const std::uint32_t step = (r + 2 * n - 2 - b) % n;
                         return Piece{.buffer = turn[step % turn.size()], .bytes = blocks.block(0, b).bytes};
                       },
                   .reuse = static_cast<std::uint32_t>(turn.size())});
  put(plan, blocks, made, reduced.ready, reduced.source_read);
  return plan.commit();
}

// A reduction to rank 0 along a binomial tree, then a scatter along the same tree: few steps for any operation.
Built reduce_scatterv(const char* name, const Arguments& arguments, const Partition& blocks) {
  Plan plan(name, arguments, kReductionSegment);
  const std::uint32_t r = arguments.rank;
  const Tree tree = tree_of(r, arguments.ranks);
  const Piece result = r == 0 ? plan.temp(blocks.total()) : Piece{};
  const Nodes reduced = tree_reduce(plan, 0, whole_input(plan, blocks), result, 0);

  Piece row = result;  // blocks r, r + 1, ... of this rank's subtree
  Nodes have = reduced;
  if (r != 0) {
    const std::uint64_t bytes = blocks.range(0, r, r + tree.span).bytes;
    const bool direct = tree.children.empty();
    row = direct ? final_place(plan, blocks) : plan.temp(bytes);
    have = plan.recv(tree.parent, row, 1);
    if (direct && arguments.in_place) plan.after(reduced, have);
  }
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    const std::uint32_t child = tree.children[i];
    Piece part = blocks.range(row.buffer, child, child + tree.spans[i]);
    part.offset -= blocks.block(0, r).offset;
    plan.after(have, plan.send(child, part, 1));
  }
  row.bytes = final_place(plan, blocks).bytes;
  put(plan, blocks, row, have, reduced);
  return plan.commit();
}

Partition blocks_of(const Arguments& arguments) { return Partition::of(arguments.recv.bytes); }
Partition equal_blocks(const Arguments& arguments) { return Partition::equal(arguments.bytes, arguments.ranks); }

}  // namespace

Built reduce_scatter::pairwise(const Arguments& arguments) {
  return collectives::pairwise("reduce_scatter/pairwise", arguments, blocks_of(arguments));
}
Built reduce_scatter::recursive_halving(const Arguments& arguments) {
  return collectives::recursive_halving("reduce_scatter/recursive_halving", arguments, blocks_of(arguments));
}
Built reduce_scatter::ring(const Arguments& arguments) {
  return collectives::ring("reduce_scatter/ring", arguments, blocks_of(arguments));
}
Built reduce_scatter::reduce_scatterv(const Arguments& arguments) {
  return collectives::reduce_scatterv("reduce_scatter/reduce_scatterv", arguments, blocks_of(arguments));
}
Built reduce_scatter_block::pairwise(const Arguments& arguments) {
  return collectives::pairwise("reduce_scatter_block/pairwise", arguments, equal_blocks(arguments));
}
Built reduce_scatter_block::recursive_halving(const Arguments& arguments) {
  return collectives::recursive_halving("reduce_scatter_block/recursive_halving", arguments, equal_blocks(arguments));
}
Built reduce_scatter_block::ring(const Arguments& arguments) {
  return collectives::ring("reduce_scatter_block/ring", arguments, equal_blocks(arguments));
}
Built reduce_scatter_block::reduce_scatterv(const Arguments& arguments) {
  return collectives::reduce_scatterv("reduce_scatter_block/reduce_scatterv", arguments, equal_blocks(arguments));
}

}  // namespace urakata::collectives
