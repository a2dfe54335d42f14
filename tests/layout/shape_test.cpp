// SPDX-License-Identifier: BSD-3-Clause
// The canonical forms: equal type maps made by different constructors are one shape.
#include "layout/shape.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <vector>

#include "layout/moving.hpp"

namespace urakata::layout {
namespace {

using List = std::vector<std::int64_t>;

const TypeMap kInt = TypeMap::bytes(4, 4);
const TypeMap kDouble = TypeMap::bytes(8, 8);

// The 3 by 2 corner of an array of 4 by 5 doubles: rows of 16 bytes, 40 bytes apart.
TEST(Shape, AMatrixsCornerIsOneDimensionOfBlocks) {
  const Shape corner(TypeMap::subarray(List{4, 5}, List{3, 2}, List{1, 2}, TypeMap::Order::c, kDouble));
  ASSERT_EQ(corner.nodes().size(), 1U);
  EXPECT_EQ(corner.nodes()[0].block, 16U);
  ASSERT_EQ(corner.dimensions(corner.nodes()[0]).size(), 1U);
  EXPECT_EQ(corner.dimensions(corner.nodes()[0])[0], (Dimension{3, 40, 16}));
  EXPECT_EQ(corner.start(), 1 * 40 + 2 * 8);
  EXPECT_EQ(corner.extent(), 4 * 40);
  EXPECT_EQ(corner.blocks(), 3U);
}

TEST(Shape, OneMapMadeInSevenWays) {
  const Shape vector(TypeMap::vector(3, 2, 5, kDouble));
  const auto bounded = [](const TypeMap& map) { return Shape(TypeMap::resized(0, 96, map)); };
  EXPECT_EQ(vector, Shape(TypeMap::hvector(3, 2, 40, kDouble)));
  EXPECT_EQ(vector, Shape(TypeMap::indexed(List{2, 2, 2}, List{0, 5, 10}, kDouble)));
  EXPECT_EQ(vector, Shape(TypeMap::hindexed(List{1, 1, 2, 1, 1}, List{0, 8, 40, 80, 88}, kDouble)));
  EXPECT_EQ(vector, Shape(TypeMap::indexed_block(2, List{0, 5, 10}, kDouble)));
  EXPECT_EQ(vector, Shape(TypeMap::structure(List{2, 2, 4}, List{0, 40, 80}, std::array{kDouble, kDouble, kInt})));
  EXPECT_EQ(vector, bounded(TypeMap::contiguous(3, TypeMap::resized(0, 40, TypeMap::contiguous(2, kDouble)))));
  EXPECT_EQ(vector, bounded(TypeMap::subarray(List{3, 5}, List{3, 2}, List{0, 0}, TypeMap::Order::c, kDouble)));
}

TEST(Shape, TheOrderOfTheMapIsKept) {
  const Shape forwards(TypeMap::indexed_block(1, List{0, 2, 4}, kInt));
  const Shape backwards(TypeMap::indexed_block(1, List{4, 2, 0}, kInt));
  EXPECT_FALSE(forwards == backwards);
  EXPECT_EQ(backwards.start(), 16);
  EXPECT_EQ(backwards.dimensions(backwards.nodes()[0])[0], (Dimension{3, -8, 4}));
  const Shape swapped(TypeMap::indexed_block(1, List{1, 0}, kInt));  // no holes, and yet not as it lies
  EXPECT_FALSE(swapped.contiguous());
  EXPECT_TRUE(Shape(TypeMap::indexed_block(1, List{0, 1}, kInt)).contiguous());
}

TEST(Shape, StructsAreThoseOfC) {
  struct Particle {
    double position[3];
    int id;
    char kind;
  };
  const Shape particle(TypeMap::structure(List{3, 1, 1}, List{0, offsetof(Particle, id), offsetof(Particle, kind)},
                                          std::array{kDouble, kInt, TypeMap::bytes(1)}));
  EXPECT_EQ(particle.size(), 29U);
  EXPECT_EQ(particle.extent(), static_cast<std::int64_t>(sizeof(Particle)));
  EXPECT_EQ(particle.blocks(), 1U);

  struct ShortInt {
    short value;
    int index;
  };
  struct LongDoubleInt {
    long double value;
    int index;
  };
  const Shape short_int(TypeMap::pair(TypeMap::bytes(2, 2), kInt));
  EXPECT_EQ(short_int.size(), 6U);
  EXPECT_EQ(short_int.extent(), static_cast<std::int64_t>(sizeof(ShortInt)));
  EXPECT_EQ(short_int.blocks(), 2U);
  const Shape long_double_int(TypeMap::pair(TypeMap::bytes(sizeof(long double), alignof(long double)), kInt));
  EXPECT_EQ(long_double_int.extent(), static_cast<std::int64_t>(sizeof(LongDoubleInt)));
}

// Irregular pieces, some of which touch: pieces of one length again.
TEST(Shape, NeighboursByChanceDoNotSpoilTheLoop) {
  const Shape shape(TypeMap::indexed_block(1, List{0, 3, 4, 9, 11, 18}, kDouble));
  ASSERT_EQ(shape.nodes().size(), 1U);
  EXPECT_EQ(shape.nodes()[0].block, 8U);
  EXPECT_EQ(shape.nodes()[0].pieces, 6U);
  EXPECT_EQ(shape.blocks(), 5U);
}

// Many vectors of one kind at uneven places share one node.
TEST(Shape, EqualPartsAreOneNode) {
  const TypeMap column = TypeMap::vector(20, 1, 30, kDouble);
  const Shape shape(TypeMap::hindexed_block(1, List{0, 8, 24, 80, 160}, column));
  EXPECT_EQ(shape.nodes().size(), 2U);
  EXPECT_EQ(shape.blocks(), 100U);
}

TEST(Shape, NoBytes) {
  for (const TypeMap& map : {TypeMap::contiguous(0, kInt), TypeMap::vector(3, 0, 2, kInt), TypeMap::bytes(0),
                             TypeMap::indexed(List{0, 0}, List{5, 9}, kInt), TypeMap::structure({}, {}, {})}) {
    const Shape shape(map);
    EXPECT_EQ(shape.size(), 0U);
    EXPECT_TRUE(shape.nodes().empty());
    EXPECT_TRUE(shape.contiguous());
    pack({shape, nullptr, 7}, 0, {});
    copy({shape, nullptr, 7}, 0, {shape, nullptr, 3}, 0, 0);
  }
}

// Twelve dimensions of two that do not join: more than a node has room for.
TEST(Shape, MoreDimensionsThanFitInANode) {
  TypeMap map = TypeMap::bytes(1);
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t d = 0; d < 12; ++d) {
    const std::int64_t stride = std::int64_t{3} << (d % 2 == 0 ? d : 14 - d);
    map = TypeMap::hvector(2, 1, stride, map);
    const std::size_t before = offsets.size();
    for (std::size_t i = 0; i < before; ++i) offsets.push_back(offsets[i] + stride);
  }
  const Shape shape(map);
  EXPECT_GT(shape.nodes().size(), 1U);
  std::vector<std::byte> memory(static_cast<std::size_t>(offsets.back()) + 1);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i % 251);
  std::vector<std::byte> packed(offsets.size());
  pack({shape, memory.data(), 1}, 0, std::span(packed).first(1000));
  pack({shape, memory.data(), 1}, 1000, std::span(packed).subspan(1000));
  for (std::size_t i = 0; i < packed.size(); ++i) {
    ASSERT_EQ(packed[i], memory[static_cast<std::size_t>(offsets[i])]) << i;
  }
}

// 5 * 2^31 blocks of four bytes, eight bytes apart, and one element of three blocks of 3 GiB: parts of what is too
// large for any int, in memory that is only touched where it is looked at.
TEST(Shape, CountsAndSizesBeyondAnInt) {
  constexpr std::uint64_t kMemory = std::uint64_t{5} << 34U;
  void* mapped = mmap(nullptr, kMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) GTEST_SKIP() << "no 80 GiB of address space";
  auto* memory = static_cast<std::byte*>(mapped);
  const auto mark = [&](std::uint64_t at) {
    return memory[at] = static_cast<std::byte>(at / 4096 % 200 + at % 51 + 1);
  };

  std::array<std::byte, 12> packed{};
  const Shape many(TypeMap::resized(0, 8, kInt));
  const std::uint64_t count = std::uint64_t{5} << 31U;
  const std::uint64_t element = count - 3;
  for (std::uint64_t i = 0; i < 24; ++i) mark(element * 8 + i);
  pack({many, memory, count}, element * 4 + 1, std::span(packed).first(10));  // from the middle of an element on
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(packed[i], memory[(element + (i + 1) / 4) * 8 + (i + 1) % 4]);

  const std::uint64_t block = std::uint64_t{3} << 30U;
  const std::uint64_t stride = std::uint64_t{5} << 30U;
  const Shape large(TypeMap::hvector(3, block, static_cast<std::int64_t>(stride), TypeMap::bytes(1)));
  EXPECT_EQ(large.size(), 3 * block);
  for (std::uint64_t i = 0; i < 12; ++i) mark(i < 6 ? stride + block - 6 + i : 2 * stride + i - 6);
  pack({large, memory, 1}, 2 * block - 6, packed);
  for (std::uint64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(packed[i], memory[i < 6 ? stride + block - 6 + i : 2 * stride + i - 6]);
  }
  const Shape bytes(TypeMap::bytes(1));
  std::array<std::byte, 12> copied{};
  copy({large, memory, 1}, 2 * block - 6, {bytes, copied.data(), 12}, 0, 12);
  EXPECT_EQ(copied, packed);
  copied.fill(std::byte{9});
  unpack(copied, {large, memory, 1}, 2 * block - 6);
  EXPECT_EQ(memory[stride + block - 1], std::byte{9});
  EXPECT_EQ(memory[2 * stride + 5], std::byte{9});
  EXPECT_EQ(memory[2 * stride + 6], std::byte{0});
  munmap(mapped, kMemory);
}

}  // namespace
}  // namespace urakata::layout
