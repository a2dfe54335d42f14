// SPDX-License-Identifier: BSD-3-Clause
// What alltoall and alltoallv share: every rank has a block for every other.
#pragma once

#include <cstdint>
#include <functional>

#include "collectives/algorithms.hpp"
#include "collectives/plan.hpp"

namespace urakata::collectives {

struct Exchange {
  std::function<Piece(std::uint32_t)> out;  // the block for a rank
  std::function<Piece(std::uint32_t)> in;   // the block from a rank
};

// Exchanges the blocks step by step, each with one partner in each direction, at most `ahead` steps under way at once
// (0: all of them). In place (out and in are the same pieces) each step swaps the blocks of two ranks: the block that
// arrives waits in a temporary until the other one is sent.
Built exchange_all(const char* name, const Arguments& arguments, const Exchange& blocks, std::uint32_t ahead);

inline constexpr std::uint32_t kPairwiseAhead = 2;

}  // namespace urakata::collectives
