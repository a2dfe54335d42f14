// Scatter: block r of the root's send slot to rank r's receive slot.
#include "collectives/algorithms.hpp"
#include "collectives/phases.hpp"

namespace urakata::collectives {

// Down a binomial tree over ranks counted from the root: gather/binomial backwards. The root sends from its buffer.
Built scatter::binomial(const Arguments& arguments) {
  Plan plan("scatter/binomial", arguments);
  const std::uint32_t ranks = arguments.ranks;
  const std::uint32_t root = arguments.root;
  const std::uint32_t me = (arguments.rank + ranks - root) % ranks;
  const std::uint64_t block = arguments.bytes;
  const auto real = [&](std::uint32_t v) { return (v + root) % ranks; };
  const Tree tree = tree_of(me, ranks);
  const auto own = Piece{.slot = kRecvSlot, .bytes = block};

  // The blocks of virtual ranks [first, last) in the root's send slot or in this rank's temporary; cut at the last
  // rank.
  const auto parts = [&](SlotId slot, std::uint32_t first, std::uint32_t last) {
    const std::uint32_t wrap = ranks - root;
    const auto piece = [&](std::uint32_t from, std::uint32_t to) {
      const std::uint32_t at = me == 0 ? real(from) : from - me;
      return Piece{.slot = slot, .offset = static_cast<std::int64_t>(at * block), .bytes = (to - from) * block};
    };
    if (first < wrap && wrap < last) return std::vector{piece(first, wrap), piece(wrap, last)};
    return std::vector{piece(first, last)};
  };

  if (me != 0 && tree.children.empty()) {
    plan.recv(real(tree.parent), own);
    return plan.commit();
  }
  const SlotId slot = me == 0 ? kSendSlot : plan.temp(tree.span * block).slot;
  Nodes have;
  if (me != 0) {
    std::uint32_t step = 0;
    for (const Piece& piece : parts(slot, me, me + tree.span)) {
      have = have + plan.recv(real(tree.parent), piece, step++);
    }
  }
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    const std::uint32_t child = tree.children[i];
    std::uint32_t step = 0;
    for (const Piece& piece : parts(slot, child, child + tree.spans[i])) {
      plan.after(have, plan.send(real(child), piece, step++));
    }
  }
  if (me != 0 || !arguments.in_place) plan.after(have, plan.copy(parts(slot, me, me + 1).front(), own));
  return plan.commit();
}

namespace {

Built straight_from_root(const char* name, const Arguments& arguments, bool blocks_differ) {
  Plan plan(name, arguments);
  if (arguments.rank != arguments.root) {
    plan.recv(arguments.root, {.slot = kRecvSlot, .bytes = arguments.bytes});
    return plan.commit();
  }
  for (std::uint32_t peer = 0; peer < arguments.ranks; ++peer) {
    const std::uint64_t bytes = blocks_differ ? arguments.send.bytes[peer] : arguments.bytes;
    const std::int64_t offset =
        blocks_differ ? arguments.send.displacements[peer] : static_cast<std::int64_t>(peer * bytes);
    const Piece place{.slot = kSendSlot, .offset = offset, .bytes = bytes};
    if (peer != arguments.root) {
      plan.send(peer, place);
    } else if (!arguments.in_place) {
      plan.copy(place, {.slot = kRecvSlot, .bytes = bytes});
    }
  }
  return plan.commit();
}

}  // namespace

Built scatter::linear(const Arguments& arguments) { return straight_from_root("scatter/linear", arguments, false); }
Built scatterv::linear(const Arguments& arguments) { return straight_from_root("scatterv/linear", arguments, true); }

}  // namespace urakata::collectives
