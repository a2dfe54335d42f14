// SPDX-License-Identifier: BSD-3-Clause
// Scatter: block r of the root's send buffer to rank r's receive buffer.
#include "collectives/algorithms.hpp"
#include "collectives/phases.hpp"
#include "collectives/rooted_blocks.hpp"

namespace urakata::collectives {

// Down a binomial tree: gather/binomial backwards. The root sends from its buffer.
Built scatter::binomial(const Arguments& arguments) {
  Plan plan("scatter/binomial", arguments);
  const RootedBlocks blocks(arguments);
  const Tree& tree = blocks.tree;
  const auto own = Piece{.buffer = kRecvBuffer, .bytes = arguments.bytes};
  if (blocks.me != 0 && tree.children.empty()) {
    plan.recv(blocks.rank_of(tree.parent), own);
    return plan.commit();
  }
  const BufferId buffer = blocks.me == 0 ? kSendBuffer : plan.temp(tree.span * arguments.bytes).buffer;
  Nodes have;
  if (blocks.me != 0) {
    std::uint32_t step = 0;
    for (const Piece& piece : blocks.parts(buffer, blocks.me, blocks.me + tree.span)) {
      have = have + plan.recv(blocks.rank_of(tree.parent), piece, step++);
    }
  }
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    std::uint32_t step = 0;
    for (const Piece& piece : blocks.parts(buffer, tree.children[i], tree.children[i] + tree.spans[i])) {
      plan.after(have, plan.send(blocks.rank_of(tree.children[i]), piece, step++));
    }
  }
  if (blocks.me != 0 || !arguments.in_place) {
    plan.after(have, plan.copy(blocks.parts(buffer, blocks.me, blocks.me + 1).front(), own));
  }
  return plan.commit();
}

namespace {

Built straight_from_root(const char* name, const Arguments& arguments, bool blocks_differ) {
  Plan plan(name, arguments);
  if (arguments.rank != arguments.root) {
    plan.recv(arguments.root, {.buffer = kRecvBuffer, .bytes = arguments.bytes});
    return plan.commit();
  }
  for (std::uint32_t peer = 0; peer < arguments.ranks; ++peer) {
    const std::uint64_t bytes = blocks_differ ? arguments.send.bytes[peer] : arguments.bytes;
    const std::int64_t offset =
        blocks_differ ? arguments.send.displacements[peer] : static_cast<std::int64_t>(peer * bytes);
    const Piece place{.buffer = kSendBuffer, .offset = offset, .bytes = bytes};
    if (peer != arguments.root) {
      plan.send(peer, place);
    } else if (!arguments.in_place) {
      plan.copy(place, {.buffer = kRecvBuffer, .bytes = bytes});
    }
  }
  return plan.commit();
}

}  // namespace

Built scatter::linear(const Arguments& arguments) { return straight_from_root("scatter/linear", arguments, false); }
Built scatterv::linear(const Arguments& arguments) { return straight_from_root("scatterv/linear", arguments, true); }

}  // namespace urakata::collectives
