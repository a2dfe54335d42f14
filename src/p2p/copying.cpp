// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/copying.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/instruction_set.hpp"
#include "p2p/slot.hpp"

namespace urakata::p2p {

namespace {

// Whether blocks lie at listed offsets, as of an indexed type, so that no prefetcher foresees the next. Looks at a few
// nodes only.
bool listed(const layout::Shape& shape) {
  constexpr std::size_t kLooked = 16;
  const auto nodes = shape.nodes().last(std::min(kLooked, shape.nodes().size()));
  return std::any_of(nodes.begin(), nodes.end(), [](const layout::Node& node) { return node.pieces != 0; });
}

bool blocks_below(const Elements& from, std::uint64_t size) { return from.shape->size() < size * from.shape->blocks(); }

std::uint64_t span(const Elements& from) {
  return static_cast<std::uint64_t>(std::abs(from.shape->extent())) * from.count;
}

// Blocks that are 2^k lines apart fall into one of 2^k sets of a cache: how many times less of it they have.
std::uint64_t crowding(const Elements& from) {
  const layout::Node& root = from.shape->nodes().back();
  if (root.block == 0 || root.dimensions == 0) return 1;
  std::uint64_t strides = from.count > 1 ? static_cast<std::uint64_t>(from.shape->extent()) : 0;
  for (const layout::Dimension& dimension : from.shape->dimensions(root)) {
    strides |= static_cast<std::uint64_t>(dimension.stride);
  }
  const std::uint64_t apart = strides & (0 - strides);  // the largest power of two that divides all
  return std::max<std::uint64_t>(1, apart / std::max(kLine, root.block));
}

// Whether all lines fit into the sender's second-level cache, and so may still be there.
bool near(const Elements& from) {
  static const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  // A block of b bytes, anywhere, touches 1 + (b - 1) / 64 lines at the mean.
  const std::uint64_t lines = from.count * (from.shape->size() + from.shape->blocks() * (kLine - 1));
  return std::min(span(from), lines * crowding(from)) <= static_cast<std::uint64_t>(std::max(cache, 0L));
}

// Intel's server processors fetch lines out of another core's second cache ten at a time and wait long for each: to
// pack short blocks there, while the receiver unpacks what is packed, takes 0.7 to 1.1 of the time of two ranks that
// copy different pieces, where the elements lie loosely or are few. Two who copy a few blocks of a line and more take
// 1.05 to 1.1 of the time of one. On AMD's the two are faster.
std::optional<Copying> choose_on_intel(const Elements& from, std::uint64_t bytes, const CopyingSettings& settings) {
  const std::uint64_t shared = settings.share_from;
  if (bytes < 2 * shared) {
    if (!blocks_below(from, settings.short_block + 1) || !near(from)) return Copying::receiver;
    if (bytes < shared || blocks_below(from, settings.short_block) || crowding(from) < settings.crowded)
      return Copying::sender;
    return std::nullopt;
  }
  if (blocks_below(from, settings.short_block + 1) && near(from) && span(from) >= settings.loose * bytes)
    return Copying::sender;
  return std::nullopt;
}

}  // namespace

// Measured (bench/layout). From share_from on, two ranks that copy different pieces are faster than any one of
// them alone, at every block from 8 B to 4 KiB and every stride. Short blocks are another matter where there is little
// to share, or where they are on a list: to read them out of another core's cache takes several times as long as the
// sender takes to pack them and the receiver to fetch full lines.
// In an exchange (examples/halo_faces) nobody is idle who could help, and lines that the receiver has read in place
// cost the sender when it writes them next: up to two lines a block, packing makes the whole iteration faster.
Copying choose_copying(const Elements& from, std::uint64_t bytes, const CopyingSettings& settings, bool exchange) {
  const std::uint64_t shared = settings.share_from;
  if (bytes < settings.pack_below) return Copying::sender;
  if (blocks_below(from, settings.short_block) && (bytes < shared || listed(*from.shape))) return Copying::sender;
  if (exchange && blocks_below(from, settings.exchange_block + 1)) return Copying::sender;
  static const bool intel = on_intel();
  const auto other = intel ? choose_on_intel(from, bytes, settings) : std::nullopt;
  return other.value_or(bytes < shared ? Copying::receiver : Copying::both);
}

}  // namespace urakata::p2p
