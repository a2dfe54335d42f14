// SPDX-License-Identifier: BSD-3-Clause
// Where the blocks of gather and scatter lie on their way along a binomial tree of virtual ranks. Virtual ranks are
// counted from the root, which is virtual rank 0. The blocks of a subtree travel together. If they pass from the last
// rank to rank 0, they travel in two messages, so that all are in their final place at the root.
#pragma once

#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/phases.hpp"

namespace urakata::collectives {

class RootedBlocks {
 public:
  explicit RootedBlocks(const Arguments& arguments)
      : me((arguments.rank + arguments.ranks - arguments.root) % arguments.ranks),
        tree(tree_of(me, arguments.ranks)),
        ranks_(arguments.ranks),
        root_(arguments.root),
        block_(arguments.bytes) {}

  const std::uint32_t me;  // this rank's virtual rank
  const Tree tree;         // of virtual ranks

  std::uint32_t rank_of(std::uint32_t virtual_rank) const { return (virtual_rank + root_) % ranks_; }

  // The blocks of virtual ranks [first, last), in two pieces if they pass the last rank. `buffer`: on the root its send
  // or receive buffer, on another rank a temporary that begins with the rank's own block.
  std::vector<Piece> parts(schedule::BufferId buffer, std::uint32_t first, std::uint32_t last) const {
    const std::uint32_t wrap = ranks_ - root_;  // the virtual rank of rank 0
    const auto piece = [&](std::uint32_t from, std::uint32_t to) {
      const std::uint32_t at = me == 0 ? rank_of(from) : from - me;
      return Piece{.buffer = buffer, .offset = static_cast<std::int64_t>(at * block_), .bytes = (to - from) * block_};
    };
    if (first < wrap && wrap < last) return {piece(first, wrap), piece(wrap, last)};
    return {piece(first, last)};
  }

 private:
  const std::uint32_t ranks_;
  const std::uint32_t root_;
  const std::uint64_t block_;
};

}  // namespace urakata::collectives
