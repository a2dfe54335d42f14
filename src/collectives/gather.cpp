// SPDX-License-Identifier: BSD-3-Clause
// Gather: the blocks of all ranks to the root's receive buffer, in rank order.
#include "collectives/algorithms.hpp"
#include "collectives/phases.hpp"
#include "collectives/rooted_blocks.hpp"

namespace urakata::collectives {

// Up a binomial tree: each rank collects its subtree's blocks and sends them on together.
Built gather::binomial(const Arguments& arguments) {
  Plan plan("gather/binomial", arguments);
  const RootedBlocks blocks(arguments);
  const Tree& tree = blocks.tree;
  const auto own = Piece{.buffer = plan.input(), .bytes = arguments.bytes};
  if (blocks.me != 0 && tree.children.empty()) {
    plan.send(blocks.rank_of(tree.parent), own);
    return plan.commit();
  }
  const BufferId buffer = blocks.me == 0 ? kRecvBuffer : plan.temp(tree.span * arguments.bytes).buffer;
  Nodes have;
  if (blocks.me != 0 || !arguments.in_place) {
    have = plan.copy(own, blocks.parts(buffer, blocks.me, blocks.me + 1).front());
  }
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    std::uint32_t step = 0;
    for (const Piece& piece : blocks.parts(buffer, tree.children[i], tree.children[i] + tree.spans[i])) {
      have = have + plan.recv(blocks.rank_of(tree.children[i]), piece, step++);
    }
  }
  if (blocks.me != 0) {
    std::uint32_t step = 0;
    for (const Piece& piece : blocks.parts(buffer, blocks.me, blocks.me + tree.span)) {
      plan.after(have, plan.send(blocks.rank_of(tree.parent), piece, step++));
    }
  }
  return plan.commit();
}

namespace {

Built straight_to_root(const char* name, const Arguments& arguments, bool blocks_differ) {
  Plan plan(name, arguments);
  const auto own = Piece{.buffer = kSendBuffer, .bytes = arguments.bytes};
  if (arguments.rank != arguments.root) {
    plan.send(arguments.root, own);
    return plan.commit();
  }
  for (std::uint32_t peer = 0; peer < arguments.ranks; ++peer) {
    const std::uint64_t bytes = blocks_differ ? arguments.recv.bytes[peer] : arguments.bytes;
    const std::int64_t offset =
        blocks_differ ? arguments.recv.displacements[peer] : static_cast<std::int64_t>(peer * bytes);
    const Piece place{.buffer = kRecvBuffer, .offset = offset, .bytes = bytes};
    if (peer != arguments.root) {
      plan.recv(peer, place);
    } else if (!arguments.in_place) {
      plan.copy({.buffer = kSendBuffer, .bytes = bytes}, place);
    }
  }
  return plan.commit();
}

}  // namespace

Built gather::linear(const Arguments& arguments) { return straight_to_root("gather/linear", arguments, false); }
Built gatherv::linear(const Arguments& arguments) { return straight_to_root("gatherv/linear", arguments, true); }

}  // namespace urakata::collectives
