// SPDX-License-Identifier: BSD-3-Clause
// Elements of the caller's buffers that are packed into temporaries before a schedule runs, or unpacked after it.
//
// Thread-safety: by one thread at a time, who owns the instance.
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
  // Packs or unpacks from where it stopped, in pieces, as far as the budget allows. True: all is moved, and the cursor
  // is at the start again.
  bool run(std::span<const Move> moves, bool pack, Budget& budget);

 private:
  std::size_t at_ = 0;       // the move in progress
  std::uint64_t moved_ = 0;  // of its elements
};

}  // namespace urakata::engine
