// SPDX-License-Identifier: BSD-3-Clause
#include "base/int_pieces.hpp"

#include <gtest/gtest.h>

namespace urakata {
namespace {

constexpr std::uint64_t kMost = INT_MAX;

TEST(IntPieces, CoverAllElementsOnceAndInOrder) {
  for (const std::uint64_t elements : {std::uint64_t{0}, std::uint64_t{1}, kMost - 1, kMost, kMost + 1, 2 * kMost,
                                       2 * kMost + 1, std::uint64_t{1} << 32U, (std::uint64_t{1} << 33U) + 5}) {
    std::uint64_t next = 0;
    std::uint64_t pieces = 0;
    in_int_pieces(elements, [&](std::uint64_t first, int count) {
      EXPECT_EQ(first, next);
      EXPECT_GT(count, 0);
      next = first + static_cast<std::uint64_t>(count);
      ++pieces;
    });
    EXPECT_EQ(next, elements);
    EXPECT_EQ(pieces, (elements + kMost - 1) / kMost);  // and no more than it takes
  }
}

}  // namespace
}  // namespace urakata
