// SPDX-License-Identifier: BSD-3-Clause
// Broadcast: the root's receive buffer to the receive buffers of all ranks.
#include "collectives/algorithms.hpp"
#include "collectives/phases.hpp"

namespace urakata::collectives::bcast {
namespace {

Piece buffer(const Arguments& arguments) { return {.buffer = kRecvBuffer, .bytes = arguments.bytes}; }

Built tree(const char* name, std::uint32_t radix, const Arguments& arguments) {
  Plan plan(name, arguments);
  tree_bcast(plan, radix, arguments.root, buffer(arguments), {}, 0);
  return plan.commit();
}

}  // namespace

Built binomial(const Arguments& arguments) { return tree("bcast/binomial", 2, arguments); }
Built knomial(const Arguments& arguments) { return tree("bcast/knomial", 4, arguments); }

// Rank after rank, a window of segments under way: every link carries every byte once.
Built chain(const Arguments& arguments) {
  Plan plan("bcast/chain", arguments, kPipelineSegment);
  const std::uint32_t ranks = arguments.ranks;
  const std::uint32_t me = (arguments.rank + ranks - arguments.root) % ranks;
  Nodes have;
  if (me != 0) have = plan.recv((arguments.rank + ranks - 1) % ranks, buffer(arguments));
  if (me + 1 < ranks) plan.each(have, plan.send((arguments.rank + 1) % ranks, buffer(arguments)));
  return plan.commit();
}

// van de Geijn (Barnett et al. 1994): scatter blocks down a binomial tree, then pass them round a ring. Blocks that a
// rank has had from the scatter are not sent to it again.
Built scatter_allgather(const Arguments& arguments) {
  Plan plan("bcast/scatter_allgather", arguments);
  const std::uint32_t ranks = arguments.ranks;
  const std::uint32_t root = arguments.root;
  const std::uint32_t me = (arguments.rank + ranks - root) % ranks;
  const auto real = [&](std::uint32_t v) { return (v + root) % ranks; };
  const Partition blocks = Partition::even(arguments.bytes, arguments.element, ranks);

  const Tree tree = tree_of(me, ranks);
  Nodes have;
  if (me != 0) have = plan.recv(real(tree.parent), blocks.range(kRecvBuffer, me, me + tree.span));
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    const std::uint32_t child = tree.children[i];
    plan.after(have, plan.send(real(child), blocks.range(kRecvBuffer, child, child + tree.spans[i])));
  }

  const std::uint32_t right = (me + 1) % ranks;
  ring_gather(plan, {.ranks = ranks, .left = real((me + ranks - 1) % ranks), .right = real(right), .step = 1},
              {.own = me,
               .sends = ranks - tree_of(right, ranks).span,
               .recvs = ranks - tree.span,
               .own_piece = blocks.block(kRecvBuffer, me),
               .block = [&](std::uint32_t b) { return blocks.block(kRecvBuffer, b); },
               .ready = [&](std::uint32_t) { return have; },
               .free = [](std::uint32_t) { return Nodes{}; }});
  return plan.commit();
}

}  // namespace urakata::collectives::bcast
