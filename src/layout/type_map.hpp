// SPDX-License-Identifier: BSD-3-Clause
// Type maps: what MPI's type constructors make, reduced to canonical form by each constructor. A value; the program's
// arguments are taken as they are valid in MPI (the MPI library has checked them).
//
// Counts are elements, displacements and strides elements or bytes as in MPI, everything 64 bits wide. Elements of a
// type of size zero occupy no bytes, but count for the bounds. Nothing here is on a fast path: constructors allocate.
//
// Thread-safety: as for any value; the bodies inside are shared and immutable.
#pragma once

#include <cstdint>
#include <span>

#include "layout/body.hpp"

namespace urakata::layout {

class TypeMap {
 public:
  TypeMap() = default;  // no bytes, all bounds 0

  std::uint64_t size() const { return placed_.body == nullptr ? 0 : placed_.body->size; }
  std::int64_t lb() const { return lb_; }
  std::int64_t extent() const { return ub_ - lb_; }
  std::int64_t true_lb() const { return true_lb_; }
  std::uint64_t true_extent() const { return static_cast<std::uint64_t>(true_ub_ - true_lb_); }
  const Placed& placed() const { return placed_; }

  // Predefined types: so many bytes, aligned in memory as said (a power of two; for the padding of structs).
  static TypeMap bytes(std::uint64_t size, std::uint64_t alignment = 1);
  // Value and index as C lays out a struct of the two (MPI_FLOAT_INT and its kin).
  static TypeMap pair(const TypeMap& value, const TypeMap& index);

  static TypeMap contiguous(std::uint64_t count, const TypeMap& old);
  static TypeMap vector(std::uint64_t count, std::uint64_t length, std::int64_t stride, const TypeMap& old);
  static TypeMap hvector(std::uint64_t count, std::uint64_t length, std::int64_t stride, const TypeMap& old);
  // As many lengths as displacements.
  static TypeMap indexed(std::span<const std::int64_t> lengths, std::span<const std::int64_t> displacements,
                         const TypeMap& old);
  static TypeMap hindexed(std::span<const std::int64_t> lengths, std::span<const std::int64_t> displacements,
                          const TypeMap& old);
  static TypeMap indexed_block(std::uint64_t length, std::span<const std::int64_t> displacements, const TypeMap& old);
  static TypeMap hindexed_block(std::uint64_t length, std::span<const std::int64_t> displacements, const TypeMap& old);
  // MPI_Type_create_struct; the upper bound is padded to the strictest alignment of the members.
  static TypeMap structure(std::span<const std::int64_t> lengths, std::span<const std::int64_t> displacements,
                           std::span<const TypeMap> olds);
  static TypeMap resized(std::int64_t lb, std::int64_t extent, const TypeMap& old);

  enum class Order { c, fortran };
  static TypeMap subarray(std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
                          std::span<const std::int64_t> starts, Order order, const TypeMap& old);

  enum class Distribution { none, block, cyclic };
  struct DistributedDimension {
    std::int64_t size = 1;  // elements of the whole array
    Distribution distribution = Distribution::none;
    std::int64_t argument = 0;   // 0: the default of the distribution
    std::int64_t processes = 1;  // of the grid in this dimension; 1 where not distributed
  };
  static TypeMap darray(std::int64_t rank, std::span<const DistributedDimension> dimensions, Order order,
                        const TypeMap& old);

 private:
  TypeMap repeated(std::uint64_t count, std::int64_t stride) const;
  static TypeMap joined(std::span<const std::int64_t> displacements, std::span<const TypeMap> members);

  Placed placed_;
  std::int64_t lb_ = 0;
  std::int64_t ub_ = 0;
  std::int64_t true_lb_ = 0;
  std::int64_t true_ub_ = 0;
  std::uint64_t alignment_ = 1;
};

}  // namespace urakata::layout
