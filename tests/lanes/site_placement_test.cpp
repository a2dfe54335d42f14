// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a site are its site leaders.
#include "lanes/site_placement.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace urakata::lanes {
namespace {

TEST(Placement, LeadersAreOnNodesOfTheirOwn) {
  // Ranks 0 1 2 at site 7 (two on node 1), 3 4 5 at site 9, each on its own node.
  const Placement placement(std::vector<std::int32_t>{7, 7, 7, 9, 9, 9}, std::vector<std::int32_t>{1, 1, 2, 3, 4, 5});
  EXPECT_EQ(placement.sites(), 2U);
  EXPECT_EQ(placement.number(0), 7);
  EXPECT_EQ(placement.number(1), 9);
  EXPECT_EQ(placement.most_lanes(), 3U);
  EXPECT_TRUE(placement.in_order());
  EXPECT_EQ(placement.leader(0, 0), 0U);
  EXPECT_EQ(placement.leader(0, 1), 2U);
  EXPECT_EQ(placement.leader(0, 2), 0U);
  EXPECT_EQ(placement.leader(1, 2), 5U);
  EXPECT_EQ(placement.leader(0, 0, 1), 1U);  // the root stands for its node
  EXPECT_EQ(placement.leader(0, 1, 1), 2U);
  EXPECT_EQ(placement.leader(0, 0, 2), 2U);
  EXPECT_EQ(placement.leader(0, 1, 2), 0U);
}

}  // namespace
}  // namespace urakata::lanes
