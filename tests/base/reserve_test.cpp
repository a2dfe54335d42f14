// SPDX-License-Identifier: BSD-3-Clause
// What the reserve gives away comes back, and a new block is there before anything new begins.
#include "base/reserve.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace urakata::reserve {
namespace {

TEST(Reserve, ServesSmallPiecesUntilItIsUsedUpAndIsRefilled) {
  set_aside();
  std::vector<void*> pieces;
  std::size_t served = 0;
  for (std::size_t bytes = 1; served < kBlock / 2; bytes = bytes % kLargest + 977) {
    void* const piece = take(bytes, 64);
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % 64, 0U);
    std::memset(piece, static_cast<int>(pieces.size()), bytes);
    EXPECT_EQ(*static_cast<unsigned char*>(piece), static_cast<unsigned char>(pieces.size()));
    pieces.push_back(piece);
    served += bytes;
  }
  EXPECT_TRUE(touched());
  EXPECT_TRUE(enough());  // a new block, since there is memory
  int other = 0;
  EXPECT_FALSE(give(&other));
  for (void* piece : pieces) EXPECT_TRUE(give(piece));
}

TEST(Reserve, DoesNotServeThePayloadOfAProgram) { EXPECT_EQ(take(kLargest + 1, 16), nullptr); }

// 16 blocks, all used up.
TEST(Reserve, EndsAndBeginsAnew) {
  std::vector<void*> pieces;
  while (void* const piece = take(kLargest, 16)) pieces.push_back(piece);
  EXPECT_FALSE(enough());
  for (void* piece : pieces) give(piece);
  EXPECT_TRUE(enough());
  void* const piece = take(kLargest, 16);
  EXPECT_NE(piece, nullptr);
  give(piece);
}

}  // namespace
}  // namespace urakata::reserve
