// SPDX-License-Identifier: BSD-3-Clause
// Two packages of two cores with two hardware threads each, as hwloc numbers them: "0,4/1,5|2,6/3,7".
#include "tune/thread_placement.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <vector>

namespace urakata::tune::thread_placement_test {
namespace {

CpuSet cpus(std::string_view text) { return *CpuSet::from_text(text); }

const Topology kNode = *Topology::from_text("0,4/1,5|2,6/3,7");

NodeRanks node_ranks(std::string_view mask, std::size_t rank = 0, std::size_t ranks = 1, std::size_t threads = 1) {
  return {.rank = rank, .ranks = ranks, .mask = cpus(mask), .threads = threads};
}

void know(NodeRanks& node_ranks, const std::vector<std::string_view>& masks) {
  std::size_t which = 0;
  for (const std::string_view mask : masks) node_ranks.note(which++, cpus(mask));
}

Placement place(const NodeRanks& node_ranks, PlacementWish wish = PlacementWish::automatic,
                std::string_view list = "") {
  return place_progress_threads(kNode, node_ranks, wish, list);
}

TEST(Placement, ARankWithTwoCoresAndOneThreadHasASpareOne) {
  const Placement placement = place(node_ranks("0,1,4,5"));
  EXPECT_TRUE(placement.spare);
  EXPECT_EQ(placement.progress_thread, cpus("1,5"));
  EXPECT_FALSE(placement.oversubscribed);
}

TEST(Placement, TheOtherHardwareThreadOfTheOnlyCoreIsNotSpare) {
  EXPECT_FALSE(place(node_ranks("0,4")).spare);
  EXPECT_EQ(place(node_ranks("0,4")).progress_thread, cpus("0,4"));
}

TEST(Placement, AutoTakesSharedSilentlyAndSpareIsRefusedWithTheReason) {
  EXPECT_EQ(place(node_ranks("0,4")).refusal, "");
  const Placement refused = place(node_ranks("0,4"), PlacementWish::spare);
  EXPECT_FALSE(refused.spare);
  EXPECT_NE(refused.refusal.find(
                "no core is spare: this rank has 1 core (CPUs 0,4, 1 rank on the node) for 1 computing thread"),
            std::string::npos)
      << refused.refusal;
}

// Its share of the cores that it may run on is less than one.
TEST(Placement, ARankThatSharesTheOnlyCoreHasNoneOfItsOwn) {
  NodeRanks two = node_ranks("0,4", 0, 2);
  know(two, {"0,4", "0,4"});
  const std::string refusal = place(two, PlacementWish::spare).refusal;
  EXPECT_NE(refusal.find("this rank has no core of its own (CPUs 0,4, 2 ranks on the node)"), std::string::npos)
      << refusal;
}

// Three ranks on two cores.
TEST(Placement, TellsHowManyRanksAndCoresTheNodeHas) {
  NodeRanks three = node_ranks("0,4", 0, 3);
  EXPECT_EQ(place(three).node_cores, 0U);  // of others' masks nothing is known
  know(three, {"0,4", "0,4", "1,5"});
  const Placement placement = place(three);
  EXPECT_EQ(placement.node_ranks, 3U);
  EXPECT_EQ(placement.node_cores, 2U);
  EXPECT_TRUE(placement.crowded);
}

TEST(Placement, SharedStaysOnTheRanksOwnCoresThoughOthersAreFree) {
  EXPECT_EQ(place(node_ranks("0-7"), PlacementWish::shared).progress_thread, cpus("0-7"));
}

TEST(Placement, ThreadsOfTheProgramComeFirst) {
  EXPECT_TRUE(place(node_ranks("0-7", 0, 1, 3)).spare);
  EXPECT_FALSE(place(node_ranks("0-7", 0, 1, 4)).spare);
  EXPECT_FALSE(place(node_ranks("0-7", 0, 1, 4)).oversubscribed);
  EXPECT_TRUE(place(node_ranks("0-7", 0, 1, 5)).oversubscribed);
}

TEST(Placement, TheSpareCoreIsNearTheFirstCoresMemory) {
  EXPECT_EQ(place(node_ranks("0-7")).progress_thread, cpus("1,5"));
}

TEST(Placement, UnboundRanksDealOutTheNode) {
  EXPECT_EQ(place(node_ranks("0-7", 0, 2)).progress_thread, cpus("1,5"));
  EXPECT_EQ(place(node_ranks("0-7", 1, 2)).progress_thread, cpus("3,7"));
  EXPECT_FALSE(place(node_ranks("0-7", 1, 4)).spare);
  EXPECT_FALSE(place(node_ranks("0-7", 1, 4)).oversubscribed);
  EXPECT_TRUE(place(node_ranks("0-7", 1, 5)).oversubscribed);
}

TEST(Placement, ACoreThatAnotherRankMayUseIsNotSpare) {
  NodeRanks known = node_ranks("0,1,4,5", 0, 2);
  know(known, {"0,1,4,5", "1,5"});
  EXPECT_FALSE(place(known).spare);
  EXPECT_TRUE(place(node_ranks("0,1,4,5", 0, 2)).spare);
}

// As Open MPI binds more than two ranks: each to all cores of a package.
TEST(Placement, RanksBoundToAPackageDealItOut) {
  for (const bool known : {true, false}) {
    NodeRanks three = node_ranks("0,1,4,5", 1, 3);
    NodeRanks four = node_ranks("0,1,4,5", 1, 4);
    NodeRanks five = node_ranks("0,1,4,5", 1, 5);
    if (known) {
      constexpr std::string_view kOwn = "0,1,4,5";
      constexpr std::string_view kOther = "2,3,6,7";
      know(three, {kOwn, kOwn, kOther});
      know(four, {kOwn, kOwn, kOther, kOther});
      know(five, {kOwn, kOwn, kOther, kOther, kOwn});
    }
    EXPECT_FALSE(place(three).spare);
    EXPECT_FALSE(place(four).spare);
    EXPECT_FALSE(place(four).oversubscribed);
    EXPECT_TRUE(place(five).oversubscribed);
  }
}

TEST(Placement, RanksBoundToTheSameCoreAreOversubscribed) {
  NodeRanks known = node_ranks("0", 0, 2);
  know(known, {"0", "0"});
  EXPECT_TRUE(place(known).oversubscribed);
}

// They choose algorithms by it, so they must find the same, whatever their own cores are.
TEST(Placement, AllRanksOfANodeFindItCrowdedOrNone) {
  const auto crowded = [](const std::vector<std::string_view>& masks) -> bool {
    std::vector<bool> found;
    for (std::size_t rank = 0; rank < masks.size(); ++rank) {
      NodeRanks known = node_ranks(masks[rank], rank, masks.size());
      know(known, masks);
      found.push_back(place(known).crowded);
    }
    EXPECT_EQ(std::set<bool>(found.begin(), found.end()).size(), 1U);
    return found.front();
  };
  EXPECT_TRUE(crowded({"0", "0"}));
  EXPECT_TRUE(crowded({"0", "0", "1"}));
  EXPECT_FALSE(crowded({"0", "0", "1-3"}));
  EXPECT_FALSE(crowded({"0,1,4,5", "0,1,4,5", "2,3,6,7", "2,3,6,7"}));
  EXPECT_TRUE(crowded({"0,1,4,5", "0,1,4,5", "0,1,4,5", "2,3,6,7", "2,3,6,7"}));
}

TEST(Placement, TheListIsTakenInTurnByTheNodesRanks) {
  EXPECT_EQ(place(node_ranks("0", 0, 2), PlacementWish::automatic, "6-7").progress_thread, cpus("6"));
  EXPECT_EQ(place(node_ranks("1", 1, 2), PlacementWish::automatic, "6-7").progress_thread, cpus("7"));
  EXPECT_TRUE(place(node_ranks("1", 1, 2), PlacementWish::automatic, "6-7").spare);
  EXPECT_FALSE(place(node_ranks("0-7"), PlacementWish::automatic, "6").spare);
}

TEST(Placement, AListWithACpuThatTheNodeLacksIsRefused) {
  const Placement placement = place(node_ranks("0"), PlacementWish::automatic, "7-8");
  EXPECT_NE(placement.refusal.find("PROGRESS_CPUS=7-8 is not within the node's CPUs 0-7"), std::string::npos);
  EXPECT_EQ(placement.progress_thread, cpus("0"));
}

}  // namespace
}  // namespace urakata::tune::thread_placement_test
