#include "p2p/copying.hpp"

#include "p2p/cell.hpp"

namespace urakata::p2p {

// Measured (bench/layout.c, blocks of 8 B to 4 KiB): from kShared bytes on, two ranks that copy different pieces are
// faster than any one of them alone, at every block and stride. Below that it is the blocks that count: to read short
// ones out of another core's cache, line by line, takes longer than the sender takes to pack them and the receiver to
// fetch full lines.
Copying choose_copying(const Elements& from, std::uint64_t bytes, std::uint64_t shared) {
  if (bytes >= shared) return Copying::both;
  return from.shape->size() < kLine * from.shape->blocks() ? Copying::sender : Copying::receiver;
}

}  // namespace urakata::p2p
