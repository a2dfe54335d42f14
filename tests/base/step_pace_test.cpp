// SPDX-License-Identifier: BSD-3-Clause
#include "base/step_pace.hpp"

#include <gtest/gtest.h>

namespace urakata {
namespace {

TEST(StepPace, TheFirstStepIsDue) {
  const StepPace pace;
  EXPECT_TRUE(pace.due(1, 1));
}

TEST(StepPace, ThereIsAStepAgainWhenAsMuchTimeHasGoneByAsOneTakes) {
  StepPace pace;
  pace.stepped(1000, 1500);
  EXPECT_FALSE(pace.due(1999, 1));
  EXPECT_TRUE(pace.due(2000, 1));
  EXPECT_FALSE(pace.due(2000, 15));
  EXPECT_TRUE(pace.due(1500 + 15 * 500, 15));
}

// A step that is stopped for 10 ms in its middle must not keep the next ones out as long.
TEST(StepPace, AStepThatTookLongerThanOthersCountsForNoMoreThanTheyTook) {
  StepPace pace;
  pace.stepped(1000, 1500);
  pace.stepped(2000, 10'002'000);
  EXPECT_FALSE(pace.due(10'002'500, 1));
  EXPECT_TRUE(pace.due(10'002'600, 1));
}

TEST(StepPace, StepsThatHaveBecomeLongerCountInTheEnd) {
  StepPace pace;
  std::uint64_t now = 1000;
  for (int step = 0; step < 100; ++step) {
    const std::uint64_t took = step < 10 ? 100 : 5000;
    pace.stepped(now, now + took);
    now += 2 * took;
  }
  EXPECT_FALSE(pace.due(now - 1, 1));
  EXPECT_TRUE(pace.due(now, 1));
}

}  // namespace
}  // namespace urakata
