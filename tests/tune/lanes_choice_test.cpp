#include "tune/lanes_choice.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "lanes/model.hpp"

namespace urakata::tune {
namespace {

using collectives::Operation;

// Two sites of four nodes with a rank each.
lanes::Placement two_sites() {
  const std::vector<std::int32_t> sites{0, 0, 0, 0, 1, 1, 1, 1};
  const std::vector<std::int32_t> nodes{0, 1, 2, 3, 4, 5, 6, 7};
  return {sites, nodes};
}

collectives::Arguments of(std::uint64_t bytes) {
  collectives::Arguments arguments;
  arguments.ranks = 8;
  arguments.bytes = bytes;
  return arguments;
}

// 8 ms; a node's own link carries a quarter of the long one.
constexpr LinkFacts kNarrowNodes{.delay = 0.008, .stream = 3e6, .pair = 12e6, .link = 48e6};
// One node fills the link.
constexpr LinkFacts kWideNodes{.delay = 0.008, .stream = 12e6, .pair = 48e6, .link = 48e6};

TEST(LanesChoice, WithoutMeasurementOnlyTheWishAndTheNodesCount) {
  EXPECT_EQ(choose_lanes(Operation::bcast, of(1 << 20), two_sites(), nullptr, 0, 0).lanes, 4U);
  EXPECT_EQ(choose_lanes(Operation::scatter, of(1 << 20), two_sites(), nullptr, 0, 0).lanes, 0U);
  EXPECT_EQ(choose_lanes(Operation::scatter, of(1 << 20), two_sites(), nullptr, 0, 3).lanes, 3U);
  EXPECT_EQ(choose_lanes(Operation::bcast, of(1 << 20), two_sites(), nullptr, 0, 9).lanes, 4U);
}

TEST(LanesChoice, ManyLanesWhereANodesOwnLinkIsNarrow) {
  const LanesChoice narrow = choose_lanes(Operation::bcast, of(64 << 20), two_sites(), &kNarrowNodes, 4, 0);
  EXPECT_EQ(narrow.lanes, 4U) << narrow.why;
  const LanesChoice wide = choose_lanes(Operation::bcast, of(64 << 20), two_sites(), &kWideNodes, 4, 0);
  EXPECT_EQ(wide.lanes, 1U) << wide.why;
}

// Where what the root hands on takes longer than what crosses: 3/4 of it at 10 MB/s against a quarter at 12.
TEST(LanesChoice, FewerLanesWhereASiteIsSlowInside) {
  LinkFacts facts = kNarrowNodes;
  facts.inside = 10e6;
  const LanesChoice slow = choose_lanes(Operation::bcast, of(64 << 20), two_sites(), &facts, 4, 0);
  EXPECT_EQ(slow.lanes, 2U) << slow.why;
  facts.inside = 1e9;
  EXPECT_EQ(choose_lanes(Operation::bcast, of(64 << 20), two_sites(), &facts, 4, 0).lanes, 4U);
}

// 768 kB are on the way in a round trip: 54 first flights.
TEST(LanesChoice, FirstFlightsOfAllNodesFillTheLink) {
  EXPECT_EQ(lanes::first_streams_for(kNarrowNodes, 4, 4, 14'000), 11U);
  EXPECT_EQ(lanes::first_streams_for(kNarrowNodes, 1, 4, 14'000), 16U);
  EXPECT_EQ(lanes::first_streams_for(kNarrowNodes, 64, 4, 14'000), 4U);
  EXPECT_EQ(lanes::first_streams_for(kNarrowNodes, 1, 20, 14'000), 20U);
}

TEST(LanesChoice, IsTheCheapestOfThePredictedAndSaysWhatItsNeighboursCost) {
  for (const Operation operation : {Operation::bcast, Operation::scatter, Operation::allreduce}) {
    for (const std::uint64_t bytes : {8U, 65536U, 64U << 20U}) {
      const auto all = lanes::costs(operation, of(bytes), two_sites(), kNarrowNodes, 4);
      const LanesChoice choice = choose_lanes(operation, of(bytes), two_sites(), &kNarrowNodes, 4, 0);
      double chosen = 0;
      for (const lanes::Cost& cost : all) chosen = cost.lanes == choice.lanes ? cost.seconds : chosen;
      for (const lanes::Cost& cost : all) EXPECT_GE(cost.seconds, chosen) << choice.why;
      EXPECT_TRUE(choice.why.starts_with("predicted: ")) << choice.why;
    }
  }
  const LanesChoice asked = choose_lanes(Operation::bcast, of(1 << 20), two_sites(), &kWideNodes, 4, 2);
  EXPECT_EQ(asked.lanes, 2U);
  EXPECT_TRUE(asked.why.starts_with("asked for; predicted: 2 lanes ")) << asked.why;
  EXPECT_NE(asked.why.find(", 1 lane "), std::string::npos) << asked.why;
  EXPECT_NE(asked.why.find(", 3 lanes "), std::string::npos) << asked.why;
}

TEST(LanesChoice, WhatHasNoDelegatesGoesOnceInOneDelay) {
  EXPECT_EQ(default_between_sites(Operation::gatherv), "linear");
  EXPECT_EQ(default_between_sites(Operation::alltoallv), "spread");
  EXPECT_EQ(default_between_sites(Operation::barrier), "");
}

}  // namespace
}  // namespace urakata::tune
