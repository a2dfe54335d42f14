// SPDX-License-Identifier: BSD-3-Clause
// How a payload that two ranks copy together is cut: the ranks claim pieces one by one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "p2p/slot.hpp"

namespace urakata::p2p {

// Bytes claimed at a time: few enough that both sides end at about the same time, not so few that claiming costs. Whole
// lines, `least` not above `most`. The two who share must go by one size: the receiver chooses it, and tells the
// sender.
struct PieceSizes {
  std::uint32_t least = 2 << 10;
  std::uint32_t most = 32 << 10;

  bool operator==(const PieceSizes&) const = default;
};

inline std::uint64_t piece_of(std::uint64_t bytes, const PieceSizes& sizes = {}) {
  return std::clamp<std::uint64_t>(bytes / 8 / kLine * kLine, sizes.least, sizes.most);
}

// How many pieces of this size there are.
inline std::uint64_t pieces_of(std::uint64_t bytes, std::uint64_t piece) { return (bytes + piece - 1) / piece; }

}  // namespace urakata::p2p
