#include "p2p/copying.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "p2p/cell.hpp"

namespace urakata::p2p {

namespace {

// Below, packing, unpacking and one way for the sender's word and its lines take less than a receiver that reads the
// elements in place: it needs a line of the sender for where they are before it can ask for the first of them.
constexpr std::uint64_t kPacked = 4 << 10;

// Blocks at places of their own, as of an indexed type: no prefetcher foresees the next. Looks at a few nodes only.
bool listed(const layout::Shape& shape) {
  constexpr std::size_t kLooked = 16;
  const auto nodes = shape.nodes().last(std::min(kLooked, shape.nodes().size()));
  return std::any_of(nodes.begin(), nodes.end(), [](const layout::Node& node) { return node.pieces != 0; });
}

// All elements are in the sender's second cache, where it has written them, and lie loosely or are few. Intel's server
// processors fetch lines out of another core's second cache ten at a time and wait long for each: to pack short blocks
// there, while the receiver unpacks what is packed, takes 0.7 to 1.1 of the time. On AMD's two ranks that copy
// different pieces are faster.
bool near_and_dear(const Elements& from, std::uint64_t bytes, std::uint64_t few) {
  constexpr std::uint64_t kLoose = 3;  // bytes of memory for each byte of payload
  static const long cache = __builtin_cpu_is("intel") ? sysconf(_SC_LEVEL2_CACHE_SIZE) : 0;
  const std::uint64_t span = static_cast<std::uint64_t>(std::abs(from.shape->extent())) * from.count;
  return cache > 0 && span <= static_cast<std::uint64_t>(cache) && (bytes < few || span >= kLoose * bytes);
}

}  // namespace

// Measured (bench/layout.c). From `shared` bytes on, two ranks that copy different pieces are faster than any one of
// them alone, at every block from 8 B to 4 KiB and every stride. Short blocks are another matter where there is little
// to share, or where they are on a list: to read them out of another core's cache takes several times as long as the
// sender takes to pack them and the receiver to fetch full lines.
// In an exchange (examples/halo_faces) nobody is idle who could help, and lines that the receiver has read in place
// cost the sender when it writes them next: up to two lines a block, packing makes the whole iteration faster.
Copying choose_copying(const Elements& from, std::uint64_t bytes, std::uint64_t shared, bool exchange) {
  const auto blocks_below = [&](std::uint64_t size) { return from.shape->size() < size * from.shape->blocks(); };
  if (bytes < kPacked) return Copying::sender;
  if (blocks_below(kLine) && (bytes < shared || listed(*from.shape) || near_and_dear(from, bytes, 2 * shared))) {
    return Copying::sender;
  }
  if (exchange && blocks_below(2 * kLine + 1)) return Copying::sender;
  return bytes < shared ? Copying::receiver : Copying::both;
}

}  // namespace urakata::p2p
