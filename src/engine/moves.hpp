// SPDX-License-Identifier: BSD-3-Clause
// Elements of the caller's buffers that are packed into contiguous memory before a schedule runs, or unpacked after it.
//
// Thread-safety: by the thread that has the instance (instance.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/budget.hpp"
#include "layout/layout.hpp"

namespace urakata::engine {

struct Move {
  const layout::Layout* layout = nullptr;
  std::byte* user = nullptr;
  std::uint64_t elements = 0;
  std::byte* packed = nullptr;
};

// How far the moves of an instance have come.
class MoveCursor {
 public:
  void reset() { *this = {}; }
  // Packs or unpacks piece by piece, from where the last call stopped, until the budget is used up. True: everything is
  // moved, and the cursor is at the start again.
  bool run(std::span<const Move> moves, bool pack, Budget& budget);

 private:
  std::size_t at_ = 0;       // the move in progress
  std::uint64_t moved_ = 0;  // elements of the move in progress that are moved
};

}  // namespace urakata::engine
