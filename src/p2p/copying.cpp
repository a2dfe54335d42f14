#include "p2p/copying.hpp"

#include <algorithm>

namespace urakata::p2p {

namespace {

constexpr std::uint64_t kLine = 64;

// Cache lines that hold the payload of one element, about.
std::uint64_t lines_of(const layout::Shape& shape) {
  const std::uint64_t blocks = std::max<std::uint64_t>(shape.blocks(), 1);
  const std::uint64_t length = shape.size() / blocks;
  const std::uint64_t apart = blocks * (1 + (length + kLine / 2) / kLine);
  return std::min(apart, shape.true_extent() / kLine + 1);
}

}  // namespace

Copying choose_copying(const Elements& from, std::uint64_t bytes) {
  constexpr std::uint64_t kNear = 512 << 10;
  const std::uint64_t touched = lines_of(*from.shape) * from.count * kLine;
  return 2 * bytes <= touched && touched <= kNear ? Copying::sender : Copying::both;
}

}  // namespace urakata::p2p
