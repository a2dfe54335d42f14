#include "p2p/elements.hpp"

#include <cstring>

#include "layout/moving.hpp"

namespace urakata::p2p {

void pack(const Elements& from, std::uint64_t at, std::span<std::byte> packed) {
  if (packed.empty()) return;
  if (from.shape == nullptr) {
    std::memcpy(packed.data(), from.address + at, packed.size());
  } else {
    layout::pack({*from.shape, from.address, from.count}, at, packed);
  }
}

void unpack(std::span<const std::byte> packed, const Elements& to, std::uint64_t at) {
  if (packed.empty()) return;
  if (to.shape == nullptr) {
    std::memcpy(to.address + at, packed.data(), packed.size());
  } else {
    layout::unpack(packed, {*to.shape, to.address, to.count}, at);
  }
}

void move(const Elements& from, const Elements& to, std::uint64_t at, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (from.shape == nullptr) {
    unpack({from.address + at, bytes}, to, at);
  } else if (to.shape == nullptr) {
    pack(from, at, {to.address + at, bytes});
  } else {
    layout::copy({*from.shape, from.address, from.count}, at, {*to.shape, to.address, to.count}, at, bytes);
  }
}

}  // namespace urakata::p2p
