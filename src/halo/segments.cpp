// SPDX-License-Identifier: BSD-3-Clause
#include "halo/segments.hpp"

#include <algorithm>

#include "p2p/small_copy.hpp"

namespace urakata::halo {

void pack(std::span<const Segment> from, const std::byte* base, std::byte* to) {
  for (const Segment& segment : from) {
    if (segment.elements.shape == nullptr && segment.bytes < p2p::kAcrossLeast) {
      p2p::small_copy(to, displaced(base, segment.offset), segment.bytes);
    } else {
      p2p::pack_across(elements_at(base, segment), 0, {to, segment.bytes});
    }
    to += segment.bytes;
  }
}

void unpack(const std::byte* from, std::span<const Segment> to, std::byte* base) {
  for (const Segment& segment : to) {
    if (segment.elements.shape == nullptr) {
      p2p::small_copy(displaced(base, segment.offset), from, segment.bytes);
    } else {
      p2p::move({const_cast<std::byte*>(from), segment.bytes, nullptr}, elements_at(base, segment), 0, segment.bytes);
    }
    from += segment.bytes;
  }
}

void move(std::span<const Segment> from, const std::byte* from_base, std::span<const Segment> to, std::byte* to_base,
          std::uint64_t at, std::uint64_t bytes) {
  for (std::size_t i = 0; bytes != 0; ++i) {
    const std::uint64_t here = from[i].bytes;
    if (at >= here) {
      at -= here;
      continue;
    }
    const std::uint64_t part = std::min(here - at, bytes);
    p2p::move(elements_at(from_base, from[i]), elements_at(to_base, to[i]), at, part);
    at = 0;
    bytes -= part;
  }
}

}  // namespace urakata::halo
