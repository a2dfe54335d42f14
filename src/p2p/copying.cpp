#include "p2p/copying.hpp"

namespace urakata::p2p {

namespace {

constexpr std::uint64_t kLine = 64;

// Cache lines that hold the payload.
std::uint64_t lines_of(const Elements& from) {
  const layout::Shape& shape = *from.shape;
  const auto apart = static_cast<std::uint64_t>(shape.extent() < 0 ? -shape.extent() : shape.extent());
  if (apart >= kLine || from.count == 1) return shape.lines() * from.count;
  return shape.lines() + apart * from.count / kLine;
}

}  // namespace

Copying choose_copying(const Elements& from, std::uint64_t bytes) {
  return 2 * bytes <= lines_of(from) * kLine ? Copying::sender : Copying::both;
}

}  // namespace urakata::p2p
