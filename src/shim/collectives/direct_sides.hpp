// SPDX-License-Identifier: BSD-3-Clause
// The sides of a call as direct collectives need them: each payload as contiguous bytes.
//
// Thread-safety: by any thread. `packed` and `parts` are the caller's. What is returned is valid until the caller
// changes them, or the program its buffer. Functions with `packed` may throw std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "direct/slot.hpp"
#include "shim/collectives/call_side.hpp"

namespace urakata::shim {

// Block `index` of a side, also where the first stands for all.
Block block_of(const Side& side, std::uint64_t index);
inline std::uint64_t bytes_of(const Block& block) { return block.elements * block.type->size; }

// The payload of this block, where it lies, or packed.
std::span<const std::byte> payload_of(const Side& side, std::uint64_t index, std::vector<std::byte>& packed);
// The payload of so many blocks that lie one after another; aside: copied in any case.
std::span<const std::byte> payload_of_all(const Side& side, std::uint32_t blocks, bool aside,
                                          std::vector<std::byte>& packed);
// The payload of each block, where it lies, or packed or copied aside.
void payload_parts(const Side& side, std::uint32_t blocks, bool aside, std::vector<std::byte>& packed,
                   std::vector<direct::Slot::Part>& parts);

}  // namespace urakata::shim
