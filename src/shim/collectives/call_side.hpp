// SPDX-License-Identifier: BSD-3-Clause
// One side of a collective's call: what it sends from, or receives into.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shim/collectives/call.hpp"
#include "shim/types/datatype.hpp"

namespace urakata::shim {

// A block of one side's buffer. v-forms have a block for each rank. Otherwise all blocks are alike, and if they have no
// holes, only the first is listed and stands for all.
struct Block {
  const Datatype* type = nullptr;
  std::uint64_t elements = 0;
  std::int64_t displacement = 0;  // memory bytes from the buffer's address
};

struct Side {
  const void* address = nullptr;
  std::span<const Block> blocks;
  bool holes = false;
  std::uint64_t bytes = 0;  // payload of all blocks

  // The block of neighbour i; one block may stand for all.
  const Block& block(std::size_t i) const { return blocks[blocks.size() == 1 ? 0 : i]; }
};

// The side as `parts` blocks, which lie in `blocks`. With 0 parts the side has no blocks, and the other arguments are
// ignored. False: an argument is wrong, which the MPI library must report.
bool describe(const CallBuffer& buffer, std::uint32_t parts, std::vector<Block>& blocks, Side& side);

}  // namespace urakata::shim
