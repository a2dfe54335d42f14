// SPDX-License-Identifier: BSD-3-Clause
#include "job/probed_pair.hpp"

#include <gtest/gtest.h>

namespace urakata::job::probed_pair_test {
namespace {

// As measured on a link without loss, whose queue was full in one third of the time, and on one that loses one in a
// hundred.
TEST(ProbedPair, LossInBurstsIsNotTheLinks) {
  const Loss burst = steady({.packets = 7713, .again = 162}, Loss{.packets = 2227, .again = 0});
  EXPECT_EQ(burst.again, 0);
  EXPECT_EQ(burst.packets, 2227);
  const Loss always = steady({.packets = 9000, .again = 90}, Loss{.packets = 3000, .again = 22});
  EXPECT_EQ(always.again, 90);
  EXPECT_EQ(always.packets, 9000);
}

// Of five lost packets a third of the time has none by chance.
TEST(ProbedPair, FewLostPacketsTellNothingOfBursts) {
  EXPECT_EQ(steady({.packets = 500, .again = 5}, Loss{.packets = 167, .again = 0}).again, 5);
  EXPECT_EQ(steady({.packets = 500, .again = 5}, std::nullopt).again, 5);
  EXPECT_EQ(steady({}, Loss{}).packets, 0);
}

}  // namespace
}  // namespace urakata::job::probed_pair_test
