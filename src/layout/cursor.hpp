// SPDX-License-Identifier: BSD-3-Clause
// A cursor: finds, for any position in the payload of `count` elements of a shape, the longest run of memory that can
// be described in one word. Positions may be taken in any order; going forward is cheapest.
//
// It refers to the shape, which must outlive it. Not thread-safe: each user has its own. Making one and asking it does
// not allocate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "layout/shape.hpp"

namespace urakata::layout {

// `rows` rows, `row_stride` apart. A row is `columns` blocks of `block` bytes, `stride` apart; or, where `offsets` is
// set, `columns` pieces at those offsets, of `block` bytes each, or, where block is 0, from one position to the next.
// The payload is row by row.
struct Run {
  std::int64_t offset = 0;  // of the first block from the address of the elements; of the origin of the pieces' offsets
  std::uint64_t block = 0;
  std::uint64_t columns = 1;
  std::int64_t stride = 0;
  std::uint64_t rows = 1;
  std::int64_t row_stride = 0;
  const std::int64_t* offsets = nullptr;
  const std::uint64_t* positions = nullptr;

  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are positions where `block` is 0
  std::uint64_t row_bytes() const { return block != 0 ? columns * block : positions[columns] - positions[0]; }
  std::uint64_t bytes() const { return rows * row_bytes(); }
};

class Cursor {
 public:
  Cursor(const Shape& shape, std::uint64_t count);

  std::uint64_t size() const { return size_; }  // payload of all elements
  // The longest run that begins at the position, at most `limit` bytes of it. position < size(), limit > 0; the run is
  // never empty.
  Run run(std::uint64_t position, std::uint64_t limit);

 private:
  struct Place {
    std::int64_t offset;
    std::uint64_t position;  // within the node
  };
  Run run_of_blocks(std::uint64_t block, std::span<const Dimension> dimensions, Place at) const;
  Run run_of_pieces(const Node& node, std::span<const Dimension> dimensions, Place at);

  static constexpr std::size_t kHints = 4;

  const Shape* shape_;
  std::uint64_t size_;
  // The root with the elements as a dimension more.
  std::array<Dimension, kDimensions + 1> dimensions_;
  std::size_t dimension_count_ = 0;
  std::uint64_t block_ = 0;
  std::array<std::size_t, kHints> hints_{};  // by depth: the child that was asked for last
};

}  // namespace urakata::layout
