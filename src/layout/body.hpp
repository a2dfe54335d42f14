// SPDX-License-Identifier: BSD-3-Clause
// A body: the bytes of a type map in its order, relative to the first of them, in canonical form. Type maps and shapes
// are made of bodies; only this layer sees them.
//
// Canonical means: what joins in memory and in order is one block; dimensions that continue each other are one; blocks
// of one length at even distances are a dimension; a sequence of blocks is a list of pieces; nothing is empty. The
// order of the bytes is never changed, since it is the order of the packed form.
//
// Immutable and shared by reference count; any thread may read one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace urakata::layout {

struct Body;
using BodyPointer = std::shared_ptr<const Body>;  // nullptr: no bytes

// A body at a place; the place is that of the body's first byte.
struct Placed {
  std::int64_t offset = 0;
  BodyPointer body;
};

struct Body {
  struct Dimension {
    std::uint64_t count;  // > 1
    std::int64_t stride;  // bytes
    bool operator==(const Dimension&) const = default;
  };
  struct Piece {
    std::int64_t offset;
    std::uint64_t length;  // > 0
    bool operator==(const Piece&) const = default;
  };

  std::uint64_t size = 0;             // payload bytes, all dimensions included
  std::vector<Dimension> dimensions;  // around what follows, outermost first
  // One of these three is repeated by the dimensions:
  std::uint64_t block = 0;       // so many bytes in a row
  std::vector<Piece> pieces;     // at least two, the first at 0
  std::vector<Placed> sequence;  // at least two, or one where the dimensions are too many for one body
};

// More dimensions than this make a sequence of one around the rest.
inline constexpr std::size_t kDimensions = 7;

BodyPointer block_of(std::uint64_t bytes);
BodyPointer repeated(const BodyPointer& body, std::uint64_t count, std::int64_t stride);

// The parts one after the other; the offsets are relative to whatever the caller likes, and so is the result's.
Placed sequence_of(std::vector<Placed> parts);

bool equal(const BodyPointer& a, const BodyPointer& b);

}  // namespace urakata::layout
