// What one edge carries: the elements of an end of a neighbourhood, or of all ends between the same two ranks one behind the
// other, so that those share marks, lines and landing places. Payload bytes are counted through all segments.
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
  std::ptrdiff_t offset = 0;  // of the elements, from the address that an exchange is given
  std::uint64_t bytes = 0;    // of payload
  Elements elements;          // but for the address
};

// Also from nullptr: MPI_BOTTOM, with addresses for offsets.
inline std::byte* displaced(const std::byte* base, std::ptrdiff_t offset) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset));
}

inline Elements elements_at(const std::byte* base, const Segment& segment) {
  Elements found = segment.elements;
  found.address = displaced(base, segment.offset);
  return found;
}

// All of the payload, and payload bytes [at, at + bytes). The k-th segments of both sides have as many bytes. pack(): as
// p2p::pack_across(), into another rank's memory; the others as p2p::move().
void pack(std::span<const Segment> from, const std::byte* base, std::byte* to);
void unpack(const std::byte* from, std::span<const Segment> to, std::byte* base);
void move(std::span<const Segment> from, const std::byte* from_base, std::span<const Segment> to, std::byte* to_base,
          std::uint64_t at, std::uint64_t bytes);

}  // namespace urakata::halo
