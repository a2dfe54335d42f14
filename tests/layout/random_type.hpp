// SPDX-License-Identifier: BSD-3-Clause
// Random datatypes, each built twice: by the layout's constructors, and as the plain list of its bytes' offsets in the
// order of the type map, which is made by the text of the standard and knows nothing of canonical forms.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "layout/type_map.hpp"

namespace urakata::layout {

// The reference: what MPI calls a type map, a byte an entry, with its bounds.
struct Listed {
  std::vector<std::int64_t> bytes;
  std::int64_t lb = 0;
  std::int64_t ub = 0;
  std::int64_t extent() const { return ub - lb; }

  // Offsets of all bytes of `count` elements, in order.
  std::vector<std::int64_t> elements(std::uint64_t count) const {
    std::vector<std::int64_t> all;
    for (std::uint64_t i = 0; i < count; ++i) {
      for (const std::int64_t byte : bytes) all.push_back(byte + static_cast<std::int64_t>(i) * extent());
    }
    return all;
  }
};

struct RandomType {
  TypeMap map;
  Listed listed;
};

class RandomTypes {
 public:
  explicit RandomTypes(std::uint64_t seed) : random_(seed) {}

  RandomType type(int depth) {
    if (depth == 0) return predefined();
    for (;;) {
      RandomType made = derived(type(upto(1) == 0 ? depth - 1 : static_cast<int>(upto(depth - 1))));
      if (made.listed.bytes.size() <= kMostBytes && std::abs(made.listed.extent()) <= kMostExtent) return made;
    }
  }
  std::int64_t upto(std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random_); }
  std::int64_t between(std::int64_t least, std::int64_t most) { return least + upto(most - least); }

 private:
  static constexpr std::size_t kMostBytes = 3000;
  static constexpr std::int64_t kMostExtent = 1 << 17;

  struct Part {
    std::int64_t at;
    std::int64_t length;
    const Listed* old;
  };

  // By the definition of MPI_Type_create_struct, without its padding: `length` elements at each displacement.
  static Listed joined(const std::vector<Part>& parts) {
    Listed result;
    bool any = false;
    for (const auto& [at, length, old] : parts) {
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t here = at + i * old->extent();
        result.lb = any ? std::min(result.lb, here + old->lb) : here + old->lb;
        result.ub = any ? std::max(result.ub, here + old->ub) : here + old->ub;
        any = true;
        for (const std::int64_t byte : old->bytes) result.bytes.push_back(here + byte);
      }
    }
    return result;
  }

  RandomType predefined() {
    static constexpr std::int64_t kSizes[] = {1, 1, 2, 4, 4, 4, 8, 8, 8, 16, 32, 0};
    const std::int64_t choice = upto(13);
    if (choice == 12) {  // float and int, no gap
      const auto four = TypeMap::bytes(4, 4);
      return {TypeMap::pair(four, four), row(8)};
    }
    if (choice == 13) {  // short and int, two bytes of gap
      RandomType made{TypeMap::pair(TypeMap::bytes(2, 2), TypeMap::bytes(4, 4)), row(8)};
      made.listed.bytes = {0, 1, 4, 5, 6, 7};
      return made;
    }
    const std::int64_t size = kSizes[choice];
    return {TypeMap::bytes(static_cast<std::uint64_t>(size)), row(size)};
  }
  static Listed row(std::int64_t size) {
    Listed listed;
    listed.bytes.resize(static_cast<std::size_t>(size));
    std::iota(listed.bytes.begin(), listed.bytes.end(), 0);
    listed.ub = size;
    return listed;
  }

  RandomType derived(const RandomType& old) {
    switch (upto(9)) {
      case 0: {
        const std::int64_t count = few();
        return {TypeMap::contiguous(static_cast<std::uint64_t>(count), old.map), joined({{0, count, &old.listed}})};
      }
      case 1:
      case 2:
        return vector(old);
      case 3:
      case 4:
        return indexed(old);
      case 5:
      case 6:
        return structure(old);
      case 7:
        return resized(old);
      case 8:
        return subarray(old);
      default:
        return darray(old);
    }
  }

  std::int64_t few() { return upto(9) == 0 ? 0 : upto(4) == 0 ? between(5, 40) : between(1, 4); }

  RandomType vector(const RandomType& old) {
    const std::int64_t count = few();
    const std::int64_t length = upto(9) == 0 ? 0 : between(1, 4);
    const bool in_bytes = upto(1) == 0;
    std::int64_t stride = upto(3) == 0 ? length : between(-6, 12);
    if (in_bytes && upto(1) == 0) stride = stride * old.listed.extent() + between(-3, 3);
    std::vector<Part> parts;
    for (std::int64_t i = 0; i < count; ++i) {
      parts.push_back({i * stride * (in_bytes ? 1 : old.listed.extent()), length, &old.listed});
    }
    const auto blocks = static_cast<std::uint64_t>(count);
    const auto elements = static_cast<std::uint64_t>(length);
    return {in_bytes ? TypeMap::hvector(blocks, elements, stride, old.map)
                     : TypeMap::vector(blocks, elements, stride, old.map),
            joined(parts)};
  }

  RandomType indexed(const RandomType& old) {
    const std::int64_t count = few();
    const bool in_bytes = upto(1) == 0;
    const bool equal = upto(1) == 0;
    const std::int64_t common = between(1, 3);
    std::vector<std::int64_t> lengths;
    std::vector<std::int64_t> displacements;
    std::vector<Part> parts;
    std::int64_t at = between(-20, 20);
    for (std::int64_t i = 0; i < count; ++i) {
      lengths.push_back(equal ? common : few() % 6);
      displacements.push_back(at * (in_bytes && upto(1) == 0 ? old.listed.extent() : 1));
      parts.push_back({displacements.back() * (in_bytes ? 1 : old.listed.extent()), lengths.back(), &old.listed});
      at += upto(4) == 0 ? between(-20, 20) : lengths.back() + upto(2);
    }
    const auto length = static_cast<std::uint64_t>(common);
    TypeMap map = equal ? (in_bytes ? TypeMap::hindexed_block(length, displacements, old.map)
                                    : TypeMap::indexed_block(length, displacements, old.map))
                        : (in_bytes ? TypeMap::hindexed(lengths, displacements, old.map)
                                    : TypeMap::indexed(lengths, displacements, old.map));
    return {map, joined(parts)};
  }

  RandomType structure(const RandomType& old) {
    const std::int64_t count = between(1, 5);
    std::vector<RandomType> olds;
    std::vector<std::int64_t> lengths;
    std::vector<std::int64_t> displacements;
    std::vector<Part> parts;
    olds.reserve(static_cast<std::size_t>(count));
    std::int64_t at = between(-16, 16);
    for (std::int64_t i = 0; i < count; ++i) {
      olds.push_back(upto(1) == 0 ? old : type(static_cast<int>(upto(1))));
      lengths.push_back(few() % 5);
      displacements.push_back(at);
      parts.push_back({at, lengths.back(), &olds.back().listed});
      at += upto(3) == 0 ? between(-64, 64) : lengths.back() * olds.back().listed.extent() + upto(4);
    }
    std::vector<TypeMap> maps;
    for (const RandomType& each : olds) maps.push_back(each.map);
    // The padding depends on all that is below: taken from the map, which other tests compare with known structs.
    RandomType made{TypeMap::structure(lengths, displacements, maps), joined(parts)};
    made.listed.ub = made.map.lb() + made.map.extent();
    return made;
  }

  RandomType resized(const RandomType& old) {
    RandomType made = old;
    made.listed.lb = between(-40, 40);
    made.listed.ub = made.listed.lb + (upto(2) == 0 ? between(-80, 80) : old.listed.extent() + upto(16));
    made.map = TypeMap::resized(made.listed.lb, made.listed.extent(), old.map);
    return made;
  }

  // Every element of the array whose index lies in the wanted set of each dimension, the fastest dimension innermost.
  static RandomType array(const RandomType& old, const TypeMap& map, const std::vector<std::int64_t>& sizes,
                          const std::vector<std::vector<std::int64_t>>& wanted, TypeMap::Order order) {
    std::vector<std::int64_t> indices = {0};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t d = order == TypeMap::Order::c ? i : sizes.size() - 1 - i;  // slowest first
      std::vector<std::int64_t> next;
      for (const std::int64_t index : indices) {
        for (const std::int64_t in : wanted[d]) next.push_back(index * sizes[d] + in);
      }
      indices = std::move(next);
    }
    RandomType made{map, {}};
    for (const std::int64_t index : indices) {
      for (const std::int64_t byte : old.listed.bytes) made.listed.bytes.push_back(index * old.listed.extent() + byte);
    }
    made.listed.ub = old.listed.extent();
    for (const std::int64_t size : sizes) made.listed.ub *= size;
    return made;
  }

  RandomType subarray(const RandomType& old) {
    const auto dimensions = static_cast<std::size_t>(between(1, 4));
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> subsizes;
    std::vector<std::int64_t> starts;
    std::vector<std::vector<std::int64_t>> wanted;
    for (std::size_t d = 0; d < dimensions; ++d) {
      sizes.push_back(between(1, 7));
      subsizes.push_back(between(1, sizes[d]));
      starts.push_back(upto(sizes[d] - subsizes[d]));
      wanted.emplace_back(static_cast<std::size_t>(subsizes[d]));
      std::iota(wanted[d].begin(), wanted[d].end(), starts[d]);
    }
    const auto order = upto(1) == 0 ? TypeMap::Order::c : TypeMap::Order::fortran;
    return array(old, TypeMap::subarray(sizes, subsizes, starts, order, old.map), sizes, wanted, order);
  }

  RandomType darray(const RandomType& old) {
    using Distribution = TypeMap::Distribution;
    const auto dimensions = static_cast<std::size_t>(between(1, 3));
    std::vector<TypeMap::DistributedDimension> grid(dimensions);
    std::vector<std::int64_t> sizes;
    std::int64_t ranks = 1;
    for (auto& [size, distribution, argument, processes] : grid) {
      size = between(1, 9);
      distribution = static_cast<Distribution>(upto(2));
      processes = distribution == Distribution::none ? 1 : between(1, 3);
      const std::int64_t least = (size + processes - 1) / processes;
      argument = upto(1) == 0 ? 0 : distribution == Distribution::block ? between(least, least + 2) : between(1, 3);
      if (distribution == Distribution::none) argument = 0;
      ranks *= processes;
      sizes.push_back(size);
    }
    const std::int64_t rank = upto(ranks - 1);
    std::vector<std::vector<std::int64_t>> wanted(dimensions);
    std::int64_t rest = rank;
    for (std::size_t d = dimensions; d-- > 0;) {
      const auto& [size, distribution, argument, processes] = grid[d];
      const std::int64_t mine = rest % processes;
      rest /= processes;
      const std::int64_t block = argument != 0                          ? argument
                                 : distribution == Distribution::none   ? size
                                 : distribution == Distribution::cyclic ? 1
                                                                        : (size + processes - 1) / processes;
      for (std::int64_t i = 0; i < size; ++i) {
        if (i / block % processes == mine) wanted[d].push_back(i);
      }
    }
    const auto order = upto(1) == 0 ? TypeMap::Order::c : TypeMap::Order::fortran;
    return array(old, TypeMap::darray(rank, grid, order, old.map), sizes, wanted, order);
  }

  std::mt19937_64 random_;
};

}  // namespace urakata::layout
