// SPDX-License-Identifier: BSD-3-Clause
// What a rank shows of its non-blocking collectives to the other ranks of the communicator, all in one space.
//
// These operations have sequence numbers of their own: 1, 2, 3, ... in the communicator's common order of non-blocking
// starts. For operation q a rank fills posting q % kPostings: the slot with its payload, and the work that its result
// takes. The work is cut into items. Whoever takes an item performs it: the rank itself, or another rank of the
// communicator that waits. So a rank that computes gets its result from a rank that waits.
//
// A rank may overwrite a posting once every rank has retired the operation that had it before.
//
// Thread-safety: a rank writes its own block only, before Slot::sequence, except the atomic members of Work.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "direct/slot.hpp"

namespace urakata::direct {

// What a rank needs of another rank's payload, and where it goes. `to` counts only if the work is shared.
struct Target {
  std::byte* to = nullptr;
  Range range;
};

struct alignas(kLine) Work {
  enum class Kind : std::uint8_t {
    whole,     // there are no items: the rank itself performs all
    moves,     // items are pieces of the ranges of `targets`, in their order
    reduction  // items are pieces of the bytes of the result from `offset` on
  };
  std::atomic<std::uint64_t> taken{0};  // number of items that somebody performs or has performed
  // Number of items that are not performed yet. 0: the rank has its result, and its work reads no payload any more.
  // Release, acquire.
  std::atomic<std::uint64_t> left{0};
  std::atomic<Outcome> outcome{Outcome::good};  // of items that were performed
  Kind kind = Kind::whole;
  bool shared = false;      // whether other ranks may take items
  std::uint32_t first = 0;  // moves: the rank of the first target
  std::uint32_t targets_count = 0;
  std::uint64_t items = 0;
  union {
    const Target* targets = nullptr;  // moves; they stay as long as the posting
    std::uint64_t offset;             // reductions
  };
  std::uint64_t bytes = 0;  // reductions
};
static_assert(sizeof(Work) == kLine);

struct Posting {
  Slot slot;
  Work work;
};

struct OperationBlock {
  static constexpr std::uint32_t kPostings = 32;  // most operations of a communicator under way; more wait their turn
  static constexpr std::uint32_t kBounceBuffers = 8;
  static constexpr std::uint64_t kBounceBytes = 2048;  // bytes

  std::array<Posting, kPostings> postings;
  // All operations up to this one are over for the rank, and none of its threads touches their postings. Release.
  alignas(kLine) std::atomic<std::uint64_t> retired{0};
  // For payloads that are too long for a slot, and so short that nobody should wait for their readers. Operation q has
  // bounce buffer q % kBounceBuffers.
  alignas(kLine) std::byte bounces[kBounceBuffers][kBounceBytes];
};

}  // namespace urakata::direct
