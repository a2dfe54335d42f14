// SPDX-License-Identifier: BSD-3-Clause
// Memory for payloads that are packed or set aside: blocks that were used before are used again, so that a program
// which keeps sending alike messages allocates nothing. A few are kept, whatever their size, up to kKept bytes in all.
//
// Thread-safety: none; used under the endpoint's lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace urakata::p2p {

struct Block {
  std::unique_ptr<std::byte[]> memory;
  std::uint64_t room = 0;  // bytes

  std::byte* get() const { return memory.get(); }
};

class Spare {
 public:
  static constexpr std::uint64_t kKept = 256 << 10;  // bytes
  static constexpr std::uint64_t kLeast = 1 << 10;   // room of the smallest block

  // A block of at least `bytes` bytes, uninitialised. Throws std::bad_alloc.
  Block take(std::uint64_t bytes) {
    Block* best = nullptr;
    for (Block& block : kept_) {
      if (block.room >= bytes && (best == nullptr || block.room < best->room)) best = &block;
    }
    if (best != nullptr) {
      total_ -= best->room;
      return std::exchange(*best, {});
    }
    const std::uint64_t room = std::max(bytes, kLeast);
    return {std::make_unique_for_overwrite<std::byte[]>(room), room};
  }

  // Takes any block back, also an empty one.
  void give(Block block) {
    if (block.room == 0) return;
    Block& smallest =
        *std::min_element(kept_.begin(), kept_.end(), [](const Block& a, const Block& b) { return a.room < b.room; });
    if (smallest.room >= block.room || total_ - smallest.room + block.room > kKept) return;
    total_ += block.room - smallest.room;
    smallest = std::move(block);
  }

 private:
  std::array<Block, 16> kept_;
  std::uint64_t total_ = 0;
};

}  // namespace urakata::p2p
