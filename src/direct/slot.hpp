// SPDX-License-Identifier: BSD-3-Clause
// What a rank posts for one collective: a short payload itself, or where the payload lies.
//
// Thread-safety: a slot is written by its rank, before Slot::sequence, and read by all after that.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "p2p/slot.hpp"

namespace urakata::direct {

using p2p::kLine;
inline constexpr std::uint32_t kMostRanks = 64;

// Two cache lines that processors fetch together. A payload of 48 bytes touches the first only.
struct alignas(2 * kLine) Slot {
  static constexpr std::uint64_t kInline = 112;  // bytes of the longest payload that is in the slot itself

  enum class Kind : std::uint32_t {
    payload,       // the payload is in the slot
    inline_parts,  // an array of Part, one for each rank, is in the slot, and the payload behind it
    address,       // the slot holds an Addresses
    parts,         // the same, and `in` is an array of Part
    failed         // the rank takes no part in the operation
  };
  // What one rank gets of another rank's buffers.
  struct Part {
    const std::byte* at;
    std::uint64_t bytes;
  };
  // Where a rank's payload lies, and its result. Both stay as they are until all ranks that read them are done.
  struct Addresses {
    const std::byte* in;
    std::byte* out;
    std::uint64_t bytes;
  };

  std::atomic<std::uint64_t> sequence{0};  // the operation's; release, after the other members
  Kind kind = Kind::payload;
  std::uint32_t bytes = 0;  // of a payload in the slot
  std::byte payload[kInline] = {};
};
static_assert(sizeof(Slot) == 2 * kLine);

enum class Outcome : std::uint8_t {
  good,
  truncated,  // another rank's payload has another length
  failed      // another rank took no part
};

// A range of bytes of a posted payload, which should have `of` bytes in all.
struct Range {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t of = 0;
};

// Of a slot of kind `address` or `parts`.
inline Slot::Addresses addresses_in(const Slot& slot) {
  Slot::Addresses addresses;
  std::memcpy(&addresses, slot.payload, sizeof addresses);
  return addresses;
}
// What this rank may read of what another one has posted.
Slot::Part payload_for(std::uint32_t rank, const Slot& slot);
// The bytes of a range that are in the payload. `*outcome` becomes the reason if these are fewer than the payload should
// have, or if the payload is longer.
std::span<const std::byte> range_of(const Slot& slot, std::uint32_t rank, const Range& range, Outcome* outcome);
// Copies the table of parts, and the payload behind it.
void copy_parts(std::span<const Slot::Part> parts, std::byte* to);

}  // namespace urakata::direct
