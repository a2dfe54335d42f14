// SPDX-License-Identifier: BSD-3-Clause
// Pack, unpack and copy: payload moved between elements and packed bytes, or between elements and elements of another
// shape with no buffer in between.
//
// All are resumable: the payload is a row of bytes from position 0 to count * size, and any part of it may be moved at
// any time, in any order, whatever it cuts through. No call allocates, locks or calls the system, so that a task may
// move the data of another one.
//
// What is read and what is written in one call must not overlap in memory, and neither may the bytes of a shape that is
// written to overlap each other (MPI forbids both). Different threads may move different parts at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "layout/shape.hpp"

namespace urakata::layout {

// Elements of a shape in memory; `base` is the address that the program would give. Refers to the shape.
struct Source {
  const Shape& shape;
  const std::byte* base;
  std::uint64_t count;
  std::uint64_t bytes() const { return count * shape.size(); }
};
struct Target {
  const Shape& shape;
  std::byte* base;
  std::uint64_t count;
  std::uint64_t bytes() const { return count * shape.size(); }
};

// Payload [position, position + packed.size()), which must lie within the elements.
void pack(const Source& from, std::uint64_t position, std::span<std::byte> packed);
void unpack(std::span<const std::byte> packed, const Target& to, std::uint64_t position);

// `bytes` bytes of payload, each side from its own position on.
void copy(const Source& from, std::uint64_t from_position, const Target& to, std::uint64_t to_position,
          std::uint64_t bytes);

}  // namespace urakata::layout
