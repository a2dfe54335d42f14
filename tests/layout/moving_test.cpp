// SPDX-License-Identifier: BSD-3-Clause
#include "layout/moving.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "../seed.hpp"
#include "random_type.hpp"

namespace urakata::layout {
namespace {

using Bytes = std::vector<std::byte>;

std::byte value_at(std::size_t i) { return static_cast<std::byte>(i * 31 + i / 251 + 7); }

// Memory exactly as large as what the elements touch, so that the sanitizer sees every byte beside it.
class Memory {
 public:
  explicit Memory(const std::vector<std::int64_t>& touched) {
    if (touched.empty()) return;
    const auto [lowest, highest] = std::minmax_element(touched.begin(), touched.end());
    lowest_ = *lowest;
    bytes_.resize(static_cast<std::size_t>(*highest - *lowest + 1));
  }
  // The address that a program would give: it may lie outside of the memory.
  std::byte* base() {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(bytes_.data()) -
                                        static_cast<std::uintptr_t>(lowest_));
  }
  std::byte& at(std::int64_t offset) { return bytes_[static_cast<std::size_t>(offset - lowest_)]; }
  void fill() {
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = value_at(i);
  }
  bool operator==(const Memory& other) const { return bytes_ == other.bytes_; }

 private:
  Bytes bytes_;
  std::int64_t lowest_ = 0;
};

struct Elements {
  RandomType type;
  Shape shape;
  std::uint64_t count;
  std::vector<std::int64_t> offsets;

  Elements(RandomType given, std::uint64_t elements)
      : type(std::move(given)), shape(type.map), count(elements), offsets(type.listed.elements(elements)) {}
  std::uint64_t bytes() const { return offsets.size(); }
  bool overlaps_itself() const {
    return std::unordered_set<std::int64_t>(offsets.begin(), offsets.end()).size() != offsets.size();
  }
};

// Cuts [0, bytes) at random places and visits the parts, mostly in order.
template <class Visit>
void in_parts(RandomTypes& random, std::uint64_t bytes, Visit visit) {
  std::vector<std::uint64_t> cuts = {0, bytes};
  for (std::int64_t i = random.upto(4); i > 0; --i) {
    cuts.push_back(static_cast<std::uint64_t>(random.upto(static_cast<std::int64_t>(bytes))));
  }
  std::sort(cuts.begin(), cuts.end());
  const bool backwards = random.upto(3) == 0;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const std::size_t part = backwards ? cuts.size() - i : i;
    visit(cuts[part - 1], cuts[part] - cuts[part - 1]);
  }
}

void check_bounds(const Elements& elements) {
  const Listed& listed = elements.type.listed;
  ASSERT_EQ(elements.shape.size(), listed.bytes.size());
  EXPECT_EQ(elements.type.map.lb(), listed.lb);
  EXPECT_EQ(elements.shape.extent(), listed.extent());
  if (listed.bytes.empty()) return;
  const auto [lowest, highest] = std::minmax_element(listed.bytes.begin(), listed.bytes.end());
  EXPECT_EQ(elements.type.map.true_lb(), *lowest);
  EXPECT_EQ(elements.type.map.true_extent(), static_cast<std::uint64_t>(*highest - *lowest + 1));
  bool as_it_lies = listed.extent() == static_cast<std::int64_t>(listed.bytes.size());
  for (std::size_t i = 0; i < listed.bytes.size(); ++i) {
    as_it_lies = as_it_lies && listed.bytes[i] == static_cast<std::int64_t>(i);
  }
  EXPECT_EQ(elements.shape.contiguous(), as_it_lies);
}

void check_pack(RandomTypes& random, const Elements& from, Bytes& packed) {
  Memory memory(from.offsets);
  memory.fill();
  in_parts(random, from.bytes(), [&](std::uint64_t position, std::uint64_t bytes) {
    pack({from.shape, memory.base(), from.count}, position, std::span(packed).subspan(position, bytes));
  });
  for (std::size_t i = 0; i < packed.size(); ++i) ASSERT_EQ(packed[i], memory.at(from.offsets[i])) << "byte " << i;
}

void check_unpack(RandomTypes& random, const Elements& to) {
  Memory memory(to.offsets);
  Memory expected(to.offsets);
  Bytes packed(to.bytes());
  for (std::size_t i = 0; i < packed.size(); ++i) expected.at(to.offsets[i]) = packed[i] = value_at(i);
  in_parts(random, to.bytes(), [&](std::uint64_t position, std::uint64_t bytes) {
    unpack(std::span(packed).subspan(position, bytes), {to.shape, memory.base(), to.count}, position);
  });
  ASSERT_TRUE(memory == expected);
}

void check_copy(RandomTypes& random, const Elements& from, const Elements& to) {
  const std::uint64_t bytes = std::min(from.bytes(), to.bytes());
  const auto from_at = static_cast<std::uint64_t>(random.upto(static_cast<std::int64_t>(from.bytes() - bytes)));
  const auto to_at = static_cast<std::uint64_t>(random.upto(static_cast<std::int64_t>(to.bytes() - bytes)));
  Memory source(from.offsets);
  Memory target(to.offsets);
  Memory expected(to.offsets);
  source.fill();
  for (std::size_t i = 0; i < bytes; ++i) expected.at(to.offsets[to_at + i]) = source.at(from.offsets[from_at + i]);
  in_parts(random, bytes, [&](std::uint64_t position, std::uint64_t length) {
    copy({from.shape, source.base(), from.count}, from_at + position, {to.shape, target.base(), to.count},
         to_at + position, length);
  });
  ASSERT_TRUE(target == expected);
}

// Elements of a and of b with the same number of bytes, where few elements make it; else any numbers.
std::pair<std::uint64_t, std::uint64_t> counts(RandomTypes& random, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t common = std::gcd(a, b);
  const auto any = [&] { return static_cast<std::uint64_t>(random.upto(4)); };
  if (common == 0 || a / common > 20 || b / common > 20) return {any(), any()};
  return {b / common, a / common};
}

// URAKATA_TEST_FULL=1: 100 000 pairs.
TEST(Moving, EqualsTheTypeMapWalkedByteByByte) {
  const char* full = std::getenv("URAKATA_TEST_FULL");
  const int pairs = full != nullptr && std::string_view(full) == "1" ? 100000 : 4000;
  const std::uint64_t seed = drawn_seed();
  int copies = 0;
  for (int i = 0; i < pairs; ++i) {
    RandomTypes random(seed + static_cast<std::uint64_t>(i));
    SCOPED_TRACE("URAKATA_TEST_SEED=" + std::to_string(seed + static_cast<std::uint64_t>(i)));
    RandomType first = random.type(static_cast<int>(random.upto(5)));
    RandomType second = random.type(static_cast<int>(random.upto(5)));
    const auto [some, others] = counts(random, first.listed.bytes.size(), second.listed.bytes.size());
    const Elements from(std::move(first), some);
    const Elements to(std::move(second), others);
    check_bounds(from);
    check_bounds(to);
    if (HasFailure()) return;
    Bytes packed(from.bytes());
    check_pack(random, from, packed);
    if (!to.overlaps_itself()) {
      check_unpack(random, to);
      check_copy(random, from, to);
      ++copies;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(copies, pairs / 2);
}

// Columns of a matrix, one behind the other, moved in pieces of a few of them: each number of rows that are taken
// together.
TEST(Moving, AMatrixIsTransposedInPiecesOfAnySize) {
  constexpr std::uint64_t kRows = 300, kWidth = 40;
  for (const std::uint64_t block : {8U, 16U, 24U}) {
    const TypeMap column = TypeMap::vector(kRows, 1, kWidth, TypeMap::bytes(block));
    const Shape shape(TypeMap::resized(0, static_cast<std::int64_t>(block), column));
    Bytes matrix(kRows * kWidth * block);
    for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = value_at(i);
    Bytes expected;
    for (std::uint64_t c = 0; c < kWidth; ++c) {
      for (std::uint64_t r = 0; r < kRows; ++r) {
        const auto at = matrix.begin() + static_cast<std::ptrdiff_t>((r * kWidth + c) * block);
        expected.insert(expected.end(), at, at + static_cast<std::ptrdiff_t>(block));
      }
    }
    for (std::uint64_t columns = 1; columns <= kWidth; ++columns) {
      Bytes packed(expected.size()), back(matrix.size());
      const std::uint64_t piece = columns * kRows * block;
      for (std::uint64_t at = 0; at < packed.size(); at += piece) {
        const std::uint64_t bytes = std::min(piece, packed.size() - at);
        pack({shape, matrix.data(), kWidth}, at, std::span(packed).subspan(at, bytes));
        unpack(std::span(expected).subspan(at, bytes), {shape, back.data(), kWidth}, at);
      }
      ASSERT_TRUE(packed == expected) << columns << " columns of " << block << " bytes";
      ASSERT_TRUE(back == matrix) << columns << " columns of " << block << " bytes";
    }
  }
}

}  // namespace
}  // namespace urakata::layout
