#include "p2p/elements.hpp"

#include <cstring>

#include "layout/moving.hpp"

namespace urakata::p2p {

void move(const Elements& from, const Elements& to, std::uint64_t at, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (from.shape == nullptr && to.shape == nullptr) {
    std::memcpy(to.address + at, from.address + at, bytes);
  } else if (from.shape == nullptr) {
    layout::unpack({from.address + at, bytes}, {*to.shape, to.address, to.count}, at);
  } else if (to.shape == nullptr) {
    layout::pack({*from.shape, from.address, from.count}, at, {to.address + at, bytes});
  } else {
    layout::copy({*from.shape, from.address, from.count}, at, {*to.shape, to.address, to.count}, at, bytes);
  }
}

}  // namespace urakata::p2p
