// How a payload that two ranks copy together is cut: pieces are claimed one by one, by whoever is free.
#pragma once

#include <algorithm>
#include <cstdint>

#include "p2p/slot.hpp"

namespace urakata::p2p {

// Bytes claimed at a time: few enough that both sides end at about the same time, not so few that claiming costs.
inline std::uint64_t piece_of(std::uint64_t bytes) {
  constexpr std::uint64_t kLeast = 2 << 10;
  constexpr std::uint64_t kMost = 32 << 10;
  return std::clamp(bytes / 8 / kLine * kLine, kLeast, kMost);
}

inline std::uint64_t pieces_of(std::uint64_t bytes) {
  const std::uint64_t step = piece_of(bytes);
  return (bytes + step - 1) / step;
}

}  // namespace urakata::p2p
