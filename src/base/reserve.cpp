// SPDX-License-Identifier: BSD-3-Clause
#include "base/reserve.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/mutex.hpp"
#include "base/waiting.hpp"

namespace urakata::reserve {

namespace {

// Pieces are cut off one after the other. Once all pieces of a block have come back, the whole block is free again.
struct Block {
  std::byte* begin = nullptr;  // nullptr: not mapped
  std::size_t used = 0;        // bytes cut off
  std::size_t pieces = 0;      // number of pieces that have not come back
};

class Lock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) pause();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

constinit Lock blocks_lock;
constinit std::array<Block, 16> blocks{};

std::size_t left(const Block& block) { return block.begin != nullptr ? kBlock - block.used : 0; }

// The block with the most left.
Block& best() { return *std::ranges::max_element(blocks, {}, left); }

bool add_block() {
  const auto free = std::ranges::find(blocks, nullptr, &Block::begin);
  if (free == blocks.end()) return false;
  void* const made = mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return false;
  madvise(made, kBlock, MADV_NOHUGEPAGE);  // else touching one piece might occupy all of it
  *free = {static_cast<std::byte*>(made)};
  return true;
}

}  // namespace

void set_aside() {
  const LockGuard guard(blocks_lock);
  if (best().begin == nullptr) add_block();
}

void* take(std::size_t bytes, std::size_t alignment) {
  if (bytes > kLargest || alignment > kLargest) return nullptr;
  const LockGuard guard(blocks_lock);
  Block* from = &best();
  if (left(*from) < bytes + alignment && !add_block()) return nullptr;
  from = &best();
  if (left(*from) < bytes + alignment) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(from->begin) + from->used;
  const std::size_t skipped = (alignment - address % alignment) % alignment;
  from->used += skipped + std::max<std::size_t>(bytes, 1);
  ++from->pieces;
  detail::touched.store(true, std::memory_order_relaxed);
  return from->begin + (from->used - std::max<std::size_t>(bytes, 1));
}

bool give(void* memory) {
  const LockGuard guard(blocks_lock);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  for (Block& block : blocks) {
    const auto begin = reinterpret_cast<std::uintptr_t>(block.begin);
    if (block.begin == nullptr || address < begin || address >= begin + kBlock) continue;
    if (--block.pieces == 0) block.used = 0;
    return true;
  }
  return false;
}

bool detail::refill() {
  const LockGuard guard(blocks_lock);
  return left(best()) >= kEnough || add_block();
}

}  // namespace urakata::reserve
