// SPDX-License-Identifier: BSD-3-Clause
// The types for parts of arrays: MPI 4.1, sections 5.1.3 (subarray) and 5.1.4 (darray). Both are built dimension by
// dimension, from the one whose elements are next to each other to the one that is farthest apart.
#include <vector>

#include "layout/type_map.hpp"

namespace urakata::layout {

namespace {

// Calls visit(d) from the fastest dimension to the slowest.
template <class Visit>
void from_fastest(std::size_t dimensions, TypeMap::Order order, Visit visit) {
  for (std::size_t i = 0; i < dimensions; ++i) visit(order == TypeMap::Order::fortran ? i : dimensions - 1 - i);
}

}  // namespace

TypeMap TypeMap::subarray(std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
                          std::span<const std::int64_t> starts, Order order, const TypeMap& old) {
  TypeMap map = old;
  std::int64_t row = old.extent();  // bytes from one index of the dimension to the next
  from_fastest(sizes.size(), order, [&](std::size_t d) {
    const TypeMap part = map.repeated(static_cast<std::uint64_t>(subsizes[d]), row);
    const std::int64_t start[] = {starts[d] * row};
    map = joined(start, {&part, 1});
    row *= sizes[d];
  });
  return resized(0, row, map);
}

TypeMap TypeMap::darray(std::int64_t rank, std::span<const DistributedDimension> dimensions, Order order,
                        const TypeMap& old) {
  // The ranks lie in the grid in row-major order, whatever the order of the array.
  std::vector<std::int64_t> coordinates(dimensions.size());
  for (std::size_t d = dimensions.size(); d-- > 0;) {
    coordinates[d] = rank % dimensions[d].processes;
    rank /= dimensions[d].processes;
  }
  TypeMap map = old;
  std::int64_t row = old.extent();
  from_fastest(dimensions.size(), order, [&](std::size_t d) {
    const auto& [size, distribution, argument, processes] = dimensions[d];
    std::int64_t block = argument;
    if (distribution == Distribution::none) {
      block = size;
    } else if (argument == 0) {
      block = distribution == Distribution::block ? (size + processes - 1) / processes : 1;
    }
    // Blocks of this rank: every `processes`-th, the last one perhaps cut short.
    const std::int64_t first = coordinates[d] * block;
    const std::int64_t step = block * processes;
    const std::int64_t whole = first + block <= size ? (size - first - block) / step + 1 : 0;
    const std::int64_t rest_at = first + whole * step;
    const std::int64_t rest = rest_at < size ? size - rest_at : 0;
    std::vector<TypeMap> members;
    std::vector<std::int64_t> places;
    if (whole > 0) {
      members.push_back(
          map.repeated(static_cast<std::uint64_t>(block), row).repeated(static_cast<std::uint64_t>(whole), step * row));
      places.push_back(first * row);
    }
    if (rest > 0) {
      members.push_back(map.repeated(static_cast<std::uint64_t>(rest), row));
      places.push_back(rest_at * row);
    }
    map = joined(places, members);
    row *= size;
  });
  return resized(0, row, map);
}

}  // namespace urakata::layout
