// SPDX-License-Identifier: BSD-3-Clause
#include "base/progress_gaps.hpp"

#include <gtest/gtest.h>

namespace urakata {
namespace {

TEST(ProgressGaps, TheMeanFollowsTheLatestByAQuarter) {
  ProgressGaps gaps(300);
  EXPECT_TRUE(gaps.are_short());
  gaps.begin(1000);
  gaps.end(2200);  // 1200: a mean of 300
  EXPECT_TRUE(gaps.are_short());
  gaps.begin(3000);
  gaps.end(3304);  // (900 + 304) / 4 = 301
  EXPECT_FALSE(gaps.are_short());
  gaps.begin(4000);
  gaps.end(4000);
  EXPECT_TRUE(gaps.are_short());
}

TEST(ProgressGaps, TheProgramIsExpectedBackWithinALongGapOfItsStart) {
  ProgressGaps gaps(300);
  EXPECT_FALSE(gaps.ends_soon(100));  // nothing has begun
  gaps.begin(1000);
  EXPECT_TRUE(gaps.ends_soon(1299));
  EXPECT_FALSE(gaps.ends_soon(1300));
  gaps.end(10000);
  gaps.begin(20000);
  EXPECT_FALSE(gaps.ends_soon(20001));  // gaps are long
}

TEST(ProgressGaps, WhatIsForgottenOrNeverBeganCountsForNothing) {
  ProgressGaps gaps(300);
  gaps.end(1'000'000);
  EXPECT_TRUE(gaps.are_short());
  gaps.begin(1000);
  EXPECT_TRUE(gaps.begun());
  gaps.forget();
  EXPECT_FALSE(gaps.begun());
  EXPECT_FALSE(gaps.ends_soon(1001));
  gaps.end(1'000'000);
  EXPECT_TRUE(gaps.are_short());
}

}  // namespace
}  // namespace urakata
