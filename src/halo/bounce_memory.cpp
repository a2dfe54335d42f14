// SPDX-License-Identifier: BSD-3-Clause
#include "halo/bounce_memory.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace urakata::halo {

namespace {

constexpr std::uint64_t whole_lines(std::uint64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

}  // namespace

void BounceMemory::assign(std::span<InChannel> channels, std::span<const Facts> facts, const Costs& costs,
                          std::uint64_t reserved) {
  buffers_.budget = costs.bounce_budget;
  std::vector<std::uint32_t> shortest_first(channels.size());
  std::iota(shortest_first.begin(), shortest_first.end(), 0);
  std::ranges::sort(shortest_first, {}, [&](std::uint32_t i) { return std::pair(channels[i].bytes, i); });
  for (const std::uint32_t i : shortest_first) choose(channels[i], facts[i], costs, reserved);
  if (buffers_.bytes == 0) return;
  memory_ = std::make_unique_for_overwrite<Line[]>(buffers_.bytes / kLine);
  std::byte* next = memory_[0].bytes;
  for (InChannel& channel : channels) {
    if (channel.bounce_bytes == 0) continue;
    channel.bounce = next;
    next += 2 * channel.bounce_bytes;
  }
}

void BounceMemory::choose(InChannel& channel, const Facts& facts, const Costs& costs, std::uint64_t reserved) {
  channel.direct = channel.bytes > kInSlot;
  if (channel.bytes == 0 || (!facts.far && channel.bytes <= kInSlot)) return;  // needs none
  const bool short_blocks = facts.short_blocks && !facts.far && channel.bytes <= costs.short_bounce_most;
  if (!facts.far && !channel.one_way && !short_blocks && channel.bytes >= costs.pull_least) {  // needs none
    channel.pulls = true;
    channel.piece = channel.bytes;
    return;
  }
  const std::uint64_t room = whole_lines(channel.bytes);
  const bool bounces = short_blocks || channel.bytes <= (facts.far ? costs.far_bounce_most : costs.bounce_most);
  if (!bounces || reserved + buffers_.bytes + 2 * room > costs.bounce_budget) {
    buffers_.without += facts.ends;
    buffers_.refused += bounces ? facts.ends : 0;
    return;
  }
  channel.bounce_bytes = room;
  channel.direct = !short_blocks && channel.bytes >= costs.direct_least;
  buffers_.bytes += 2 * room;
}

}  // namespace urakata::halo
