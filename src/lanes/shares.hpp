// SPDX-License-Identifier: BSD-3-Clause
// The blocks that cross between two sites, one after another, cut into shares for the lanes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include "lanes/site_placement.hpp"

namespace urakata::lanes {

// Lays the blocks of `ranks` end to end, and cuts them into one share for each lane, equal but for one byte. Calls
// part(lane, rank, offset, bytes) for each part of a rank's block that lies in a share, lane after lane, and in each
// rank after rank. `offset`: from the beginning of the block. bytes_of(rank): bytes of the block.
template <class BytesOf, class Part>
void for_each_part(std::span<const Rank> ranks, std::uint32_t lanes, BytesOf&& bytes_of, Part&& part) {
  std::uint64_t total = 0;
  for (const Rank rank : ranks) total += bytes_of(rank);
  std::uint64_t begin = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t end = total / lanes * (lane + 1) + std::min<std::uint64_t>(lane + 1, total % lanes);
    std::uint64_t at = 0;  // where the block of `rank` begins
    for (const Rank rank : ranks) {
      const std::uint64_t bytes = bytes_of(rank);
      const std::uint64_t from = std::max(begin, at);
      const std::uint64_t to = std::min(end, at + bytes);
      if (from < to) part(lane, rank, from - at, to - from);
      at += bytes;
    }
    begin = end;
  }
}

}  // namespace urakata::lanes
