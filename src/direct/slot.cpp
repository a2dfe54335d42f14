// SPDX-License-Identifier: BSD-3-Clause
#include "direct/slot.hpp"

#include <algorithm>
#include <cstring>

namespace urakata::direct {

Slot::Part payload_for(std::uint32_t rank, const Slot& slot) {
  if (slot.kind == Slot::Kind::payload || slot.kind == Slot::Kind::failed) return {slot.payload, slot.bytes};
  const std::byte* parts = slot.payload;
  if (slot.kind != Slot::Kind::inline_parts) {
    const Slot::Addresses addresses = addresses_in(slot);
    if (slot.kind == Slot::Kind::address) return {addresses.in, addresses.bytes};
    parts = addresses.in;
  }
  Slot::Part part;
  std::memcpy(&part, parts + rank * sizeof part, sizeof part);
  return part;
}

std::span<const std::byte> range_of(const Slot& slot, std::uint32_t rank, const Range& range, Outcome* outcome) {
  const Slot::Part payload = payload_for(rank, slot);
  if (slot.kind == Slot::Kind::failed) {
    *outcome = Outcome::failed;
  } else if (payload.bytes > range.of) {
    *outcome = Outcome::truncated;
  } else if (payload.bytes > range.offset) {
    return {payload.at + range.offset, std::min(range.bytes, payload.bytes - range.offset)};
  }
  return {};
}

void copy_parts(std::span<const Slot::Part> parts, std::byte* to) {
  std::byte* at = to + parts.size_bytes();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Slot::Part there{at, parts[i].bytes};
    std::memcpy(to + i * sizeof there, &there, sizeof there);
    if (there.bytes != 0) std::memcpy(at, parts[i].at, there.bytes);
    at += there.bytes;
  }
}

}  // namespace urakata::direct
