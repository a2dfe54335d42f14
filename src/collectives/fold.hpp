// SPDX-License-Identifier: BSD-3-Clause
// The usual way to run an algorithm for 2^k ranks on any number of ranks. The first 2 * extra ranks form pairs of
// neighbours. The odd rank of a pair gives its input to the even one and sits out until the result comes back
// (Rabenseifner, Träff 2004). So the order of the ranks is kept.
#pragma once

#include <bit>
#include <cstdint>

namespace urakata::collectives {

struct Fold {
  explicit Fold(std::uint32_t ranks) : active(std::bit_floor(ranks)), extra(ranks - active) {}

  bool sits_out(std::uint32_t rank) const { return rank < 2 * extra && rank % 2 == 1; }
  bool stands_for_two(std::uint32_t rank) const { return rank < 2 * extra && rank % 2 == 0; }
  std::uint32_t index(std::uint32_t rank) const { return rank < 2 * extra ? rank / 2 : rank - extra; }
  std::uint32_t rank(std::uint32_t index) const { return index < extra ? 2 * index : index + extra; }

  // The index with its bits reversed, so that partners at the greatest distance are neighbours. Recursive halving by
  // this index exchanges the large halves between neighbours, which are often on one node.
  std::uint32_t turned(std::uint32_t index) const {
    std::uint32_t result = 0;
    for (std::uint32_t bit = 1; bit < active; bit *= 2) result = 2 * result + ((index & bit) != 0 ? 1 : 0);
    return result;
  }

  std::uint32_t active;  // 2^k, the number of ranks that run the algorithm
  std::uint32_t extra;   // the number of ranks that sit out
};

}  // namespace urakata::collectives
