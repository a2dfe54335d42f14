// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/direct_sides.hpp"

namespace urakata::shim {

namespace {

const std::byte* address_of(const Side& side, const Block& block) {
  return static_cast<const std::byte*>(side.address) + block.displacement;
}

void pack_block(const Side& side, const Block& block, std::byte* to) {
  if (block.elements != 0) block.type->pack(address_of(side, block), 0, block.elements, to);
}

}  // namespace

Block block_of(const Side& side, std::uint64_t index) {
  if (side.blocks.size() != 1) return side.blocks[index];
  Block block = side.blocks.front();
  block.displacement += static_cast<std::int64_t>(index * block.elements * block.type->size);
  return block;
}

std::span<const std::byte> payload_of(const Side& side, std::uint64_t index, std::vector<std::byte>& packed) {
  const Block block = block_of(side, index);
  if (!side.holes) return {address_of(side, block), bytes_of(block)};
  packed.resize(bytes_of(block));
  pack_block(side, block, packed.data());
  return packed;
}

std::span<const std::byte> payload_of_all(const Side& side, std::uint32_t blocks, bool aside,
                                          std::vector<std::byte>& packed) {
  if (!side.holes) {
    const std::span<const std::byte> bytes(address_of(side, block_of(side, 0)), side.bytes);
    if (!aside) return bytes;
    packed.assign(bytes.begin(), bytes.end());
    return packed;
  }
  packed.resize(side.bytes);
  std::byte* at = packed.data();
  for (std::uint32_t i = 0; i < blocks; ++i) {
    pack_block(side, side.blocks[i], at);
    at += bytes_of(side.blocks[i]);
  }
  return packed;
}

void payload_parts(const Side& side, std::uint32_t blocks, bool aside, std::vector<std::byte>& packed,
                   std::vector<direct::Slot::Part>& parts) {
  const bool packs = side.holes || aside;
  if (packs) packed.resize(side.bytes);
  parts.clear();
  std::byte* to = packed.data();
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const Block block = block_of(side, i);
    parts.push_back({packs ? to : address_of(side, block), bytes_of(block)});
    if (!packs) continue;
    pack_block(side, block, to);
    to += bytes_of(block);
  }
}

}  // namespace urakata::shim
