// SPDX-License-Identifier: BSD-3-Clause
// The segments of a channel: one for each neighbour of the list whose payload the channel carries, one behind the
// other. Several neighbours that are the same rank share flags, mailbox slots and bounce buffers this way. Payload
// bytes are counted through all segments.
//
// Thread-safety: constant; may be read by all ranks of the space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "p2p/elements.hpp"

namespace urakata::halo {

using p2p::Elements;

struct Segment {
  std::ptrdiff_t offset = 0;  // bytes from the exchange's base address to the elements
  std::uint64_t bytes = 0;    // payload bytes
  Elements elements;          // the elements, without their address
};

// base + offset. The base may be nullptr for MPI_BOTTOM; offsets are then addresses.
inline std::byte* displaced(const std::byte* base, std::ptrdiff_t offset) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset));
}

inline Elements elements_at(const std::byte* base, const Segment& segment) {
  Elements found = segment.elements;
  found.address = displaced(base, segment.offset);
  return found;
}

// pack() and unpack() copy the whole payload, move() copies payload bytes [at, at + bytes). The k-th segments of both
// sides must have the same number of bytes. pack() writes to another rank's memory, as p2p::pack_across() does; the
// other two copy as p2p::move() does.
void pack(std::span<const Segment> from, const std::byte* base, std::byte* to);
void unpack(const std::byte* from, std::span<const Segment> to, std::byte* base);
void move(std::span<const Segment> from, const std::byte* from_base, std::span<const Segment> to, std::byte* to_base,
          std::uint64_t at, std::uint64_t bytes);

}  // namespace urakata::halo
