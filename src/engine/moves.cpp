// SPDX-License-Identifier: BSD-3-Clause
#include "engine/moves.hpp"

#include <algorithm>

namespace urakata::engine {

namespace {
constexpr std::uint64_t kMoveBytes = 32UL * 1024;  // of a piece; at least one element
}  // namespace

bool MoveCursor::run(std::span<const Move> moves, bool pack, Budget& budget) {
  while (at_ < moves.size()) {
    const Move& move = moves[at_];
    const std::uint64_t size = std::max<std::uint64_t>(move.layout->size, 1);
    const std::uint64_t count = std::min(move.elements - moved_, std::max<std::uint64_t>(kMoveBytes / size, 1));
    if (!budget.allows(count * size)) return false;
    std::byte* packed = move.packed + moved_ * move.layout->size;
    if (count != 0) {
      if (pack) {
        move.layout->pack(move.user, moved_, count, packed);
      } else {
        move.layout->unpack(packed, move.user, moved_, count);
      }
    }
    budget.spend(count * size);
    moved_ += count;
    if (moved_ == move.elements) {
      ++at_;
      moved_ = 0;
    }
  }
  at_ = 0;
  return true;
}

}  // namespace urakata::engine
