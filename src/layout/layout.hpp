// SPDX-License-Identifier: BSD-3-Clause
// A layout: how the elements of a datatype lie in memory. The core asks it for sizes and lets it pack and unpack; what
// a datatype is to the MPI library stays behind this interface.
//
// Immutable after construction and shared by reference count; any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace urakata::layout {

class Shape;

class Layout {
 public:
  virtual ~Layout() = default;

  std::uint64_t size = 1;         // payload bytes of one element
  std::uint64_t extent = 1;       // memory bytes from one element to the next
  std::int64_t true_lb = 0;       // lowest byte of an element, relative to its address
  std::uint64_t true_extent = 1;  // from lowest to highest byte
  bool contiguous = true;         // size == extent and no holes: an element is `size` bytes at its address

  // The canonical form, as long-lived as the layout: for copies from layout to layout and for parts of elements.
  // nullptr where the layout is only known to whoever implements this interface.
  virtual const Shape* shape() const { return nullptr; }

  // Elements [first, first + count) of the buffer at `base`, to or from `count * size` bytes at `packed`.
  virtual void pack(const std::byte* base, std::uint64_t first, std::uint64_t count, std::byte* packed) const = 0;
  virtual void unpack(const std::byte* packed, std::byte* base, std::uint64_t first, std::uint64_t count) const = 0;
};

}  // namespace urakata::layout
