// SPDX-License-Identifier: BSD-3-Clause
// A control segment: the memory by which the ranks of one communicator, all in one space, perform collectives on each
// other's buffers. It has a control block for each rank, and an operation block for non-blocking collectives
// (operation_block.hpp). A rank writes only its own control block, and reads all.
//
// The blocking operations of a communicator have sequence numbers 1, 2, 3, ... in their common order. For operation q a rank
// posts in slot q % kSlots of its block: a short payload itself, or where its payload lies. It may overwrite a slot, or
// a bounce buffer, once every rank is done with the operation that had it before (ControlBlock::done).
//
// The first rank of the communicator allocates the segment. The last rank to leave gives the segment back to that rank,
// whose allocator must free it: reclaim().
//
// Thread-safety: as its members say. A rank's block is written by one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "direct/operation_block.hpp"
#include "direct/slot.hpp"

namespace urakata::direct {

struct ControlBlock {
  // A rank that only posts, as the root of broadcasts, waits for the others once in so many operations.
  static constexpr std::uint32_t kSlots = 32;
  static constexpr std::uint32_t kBounceBuffers = 4;
  static constexpr std::uint64_t kBounceBytes = 2048;  // bytes

  std::array<Slot, kSlots> slots;
  // The last operation that the rank is done with: it reads no other rank's memory for it any more. Release.
  alignas(kLine) std::atomic<std::uint64_t> done{0};
  // The last operation whose share of the result this rank has computed. Release.
  alignas(kLine) std::atomic<std::uint64_t> computed{0};
  // For payloads that are too long for a slot, and so short that nobody should wait for their readers. Operation q has
  // bounce buffer q % kBounceBuffers.
  alignas(kLine) std::byte bounces[kBounceBuffers][kBounceBytes];
};

class ControlSegment {
 public:
  // nullptr: there is no memory. `ranks` is at most kMostRanks. Called by the rank that owns the segment.
  static ControlSegment* make(std::uint32_t ranks);
  // Each rank of the communicator calls this once, when it is done with its last operation. The segment must not be used
  // after.
  void leave();
  // Frees the segments of this rank that all have left. By any thread of the rank.
  static void reclaim();

  // The communicator was revoked (MPIX_Comm_revoke): no rank begins an operation any more. By any rank.
  void revoke() { revoked_.store(true, std::memory_order_release); }
  bool revoked() const { return revoked_.load(std::memory_order_acquire); }

  std::uint32_t ranks() const { return ranks_; }
  ControlBlock& block(std::uint32_t rank) { return blocks_[rank]; }
  OperationBlock& operations(std::uint32_t rank) { return operations_[rank]; }
  // Room for the targets of a rank's posting for this operation: one for each rank, not constructed.
  Target* targets(std::uint32_t rank, std::uint64_t sequence) {
    return targets_ + (rank * OperationBlock::kPostings + sequence % OperationBlock::kPostings) * ranks_;
  }

  ControlSegment(const ControlSegment&) = delete;
  ControlSegment& operator=(const ControlSegment&) = delete;

 private:
  explicit ControlSegment(std::uint32_t ranks, std::atomic<ControlSegment*>& left)
      : users_(ranks), left_(left), ranks_(ranks) {}
  ~ControlSegment() = default;

  std::atomic<std::uint32_t> users_;
  std::atomic<ControlSegment*>& left_;  // the list of the owner's segments that all have left
  ControlSegment* next_ = nullptr;      // in that list
  std::atomic<bool> revoked_{false};
  const std::uint32_t ranks_;
  ControlBlock* blocks_ = nullptr;
  OperationBlock* operations_ = nullptr;
  Target* targets_ = nullptr;
};

}  // namespace urakata::direct
