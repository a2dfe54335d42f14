// SPDX-License-Identifier: BSD-3-Clause
// Where the blocks of gather and scatter lie, up and down a binomial tree over virtual ranks: ranks counted from the
// root, which is virtual rank 0. A subtree's blocks travel together; where they pass the last rank they go in two
// messages, so that the root has all of them in their final place.
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

  // The blocks of virtual ranks [first, last) in the root's buffer, or in this rank's own, which begins with its own
  // block; cut at the last rank.
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
