// Gather: everybody's block to the root's receive slot, in rank order.
#include "collectives/algorithms.hpp"
#include "collectives/phases.hpp"

namespace urakata::collectives {

// Up a binomial tree over ranks counted from the root. A subtree's blocks travel together; where they pass the last
// rank they go in two messages, so that the root receives all of them in their final place.
Built gather::binomial(const Arguments& arguments) {
  Plan plan("gather/binomial", arguments);
  const std::uint32_t ranks = arguments.ranks;
  const std::uint32_t root = arguments.root;
  const std::uint32_t me = (arguments.rank + ranks - root) % ranks;
  const std::uint64_t block = arguments.bytes;
  const auto real = [&](std::uint32_t v) { return (v + root) % ranks; };
  const Tree tree = tree_of(me, ranks);
  const auto own = Piece{.slot = plan.input(), .bytes = block};

  // The blocks of virtual ranks [first, last), where virtual rank `base` lies at the slot's beginning; cut at the last
  // rank.
  const auto parts = [&](SlotId slot, std::uint32_t base, std::uint32_t first, std::uint32_t last) {
    const std::uint32_t wrap = ranks - root;  // the virtual rank of rank 0
    const auto piece = [&](std::uint32_t from, std::uint32_t to) {
      const std::uint32_t at = me == 0 ? real(from) : from - base;
      return Piece{.slot = slot, .offset = static_cast<std::int64_t>(at * block), .bytes = (to - from) * block};
    };
    if (first < wrap && wrap < last) return std::vector{piece(first, wrap), piece(wrap, last)};
    return std::vector{piece(first, last)};
  };

  if (me != 0 && tree.children.empty()) {
    plan.send(real(tree.parent), own);
    return plan.commit();
  }
  const SlotId slot = me == 0 ? kRecvSlot : plan.temp(tree.span * block).slot;
  Nodes have;
  if (me != 0 || !arguments.in_place) have = plan.copy(own, parts(slot, me, me, me + 1).front());
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    const std::uint32_t child = tree.children[i];
    std::uint32_t step = 0;
    for (const Piece& piece : parts(slot, me, child, child + tree.spans[i])) {
      have = have + plan.recv(real(child), piece, step++);
    }
  }
  if (me != 0) {
    std::uint32_t step = 0;
    for (const Piece& piece : parts(slot, me, me, me + tree.span)) {
      plan.after(have, plan.send(real(tree.parent), piece, step++));
    }
  }
  return plan.commit();
}

namespace {

Built straight_to_root(const char* name, const Arguments& arguments, bool blocks_differ) {
  Plan plan(name, arguments);
  const auto own = Piece{.slot = kSendSlot, .bytes = arguments.bytes};
  if (arguments.rank != arguments.root) {
    plan.send(arguments.root, own);
    return plan.commit();
  }
  for (std::uint32_t peer = 0; peer < arguments.ranks; ++peer) {
    const std::uint64_t bytes = blocks_differ ? arguments.recv.bytes[peer] : arguments.bytes;
    const std::int64_t offset =
        blocks_differ ? arguments.recv.displacements[peer] : static_cast<std::int64_t>(peer * bytes);
    const Piece place{.slot = kRecvSlot, .offset = offset, .bytes = bytes};
    if (peer != arguments.root) {
      plan.recv(peer, place);
    } else if (!arguments.in_place) {
      plan.copy({.slot = kSendSlot, .bytes = bytes}, place);
    }
  }
  return plan.commit();
}

}  // namespace

Built gather::linear(const Arguments& arguments) { return straight_to_root("gather/linear", arguments, false); }
Built gatherv::linear(const Arguments& arguments) { return straight_to_root("gatherv/linear", arguments, true); }

}  // namespace urakata::collectives
