// SPDX-License-Identifier: BSD-3-Clause
// Trees over virtual ranks, and broadcast and reduction along them.
#include <algorithm>

#include "collectives/phases.hpp"

namespace urakata::collectives {

Tree tree_of(std::uint32_t virtual_rank, std::uint32_t ranks, std::uint32_t radix) {
  Tree tree;
  std::uint64_t reach = 1;  // place value of the lowest nonzero digit of virtual_rank, in base `radix`
  while (reach < ranks && virtual_rank % (reach * radix) == 0) reach *= radix;
  tree.span = static_cast<std::uint32_t>(std::min<std::uint64_t>(reach, ranks - virtual_rank));
  tree.parent = virtual_rank - static_cast<std::uint32_t>(virtual_rank % (reach * radix));
  while (reach > 1) {
    reach /= radix;
    for (std::uint32_t digit = 1; digit < radix; ++digit) {
      const std::uint64_t child = virtual_rank + digit * reach;
      if (child >= ranks) break;
      tree.children.push_back(static_cast<std::uint32_t>(child));
      tree.spans.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(reach, ranks - child)));
    }
  }
  return tree;
}

Nodes tree_bcast(Plan& plan, std::uint32_t radix, std::uint32_t root, Piece piece, const Nodes& ready_or_free,
                 std::uint32_t step) {
  const std::uint32_t ranks = plan.ranks();
  const std::uint32_t me = (plan.rank() + ranks - root) % ranks;
  const Tree tree = tree_of(me, ranks, radix);
  Nodes have = ready_or_free;
  if (me != 0) {
    have = plan.recv((tree.parent + root) % ranks, piece, step);
    plan.each(ready_or_free, have);
  }
  for (std::uint32_t child : tree.children) plan.each(have, plan.send((child + root) % ranks, piece, step));
  return have;
}

Nodes tree_reduce(Plan& plan, std::uint32_t root, Piece input, Piece result, std::uint32_t step) {
  // If the operation commutes or the root is rank 0, there is one tree over ranks counted from the root. Else there are
  // two: of [root, ranks) up to the root, and of [0, root) up to rank 0, which sends its result to the root. That keeps
  // the rank order.
  const std::uint32_t rank = plan.rank();
  const bool one = plan.commutative() || root == 0;
  const bool left_tree = !one && rank < root;
  const std::uint32_t base = left_tree ? 0 : root;
  const std::uint32_t size = one ? plan.ranks() : left_tree ? root : plan.ranks() - root;
  const auto real = [&](std::uint32_t v) { return (v + base) % plan.ranks(); };
  const std::uint32_t me = (rank + plan.ranks() - base) % plan.ranks();

  const Tree tree = tree_of(me, size);
  std::vector<Contribution> contributions;
  for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child) {
    contributions.push_back({.peer = real(*child)});  // nearest first: they are ready first, and adjacent
  }
  if (rank == root && !one) contributions.push_back({.peer = 0, .left = true});
  if (rank == root) return accumulate(plan, input, result, contributions, step);

  const std::uint32_t parent = left_tree && me == 0 ? root : real(tree.parent);
  if (contributions.empty()) return plan.send(parent, input, step);
  const Piece partial = plan.temp(input.bytes);
  Nodes ready = accumulate(plan, input, partial, contributions, step);
  plan.each(ready, plan.send(parent, partial, step));
  return ready;
}

}  // namespace urakata::collectives
