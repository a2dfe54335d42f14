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

const lanes::Links kUnknown = [](auto, auto) { return nullptr; };
// All links are such, with four connections for a pair.
lanes::Links by(const LinkFacts& facts) {
  return [link = lanes::Link{.facts = facts, .streams = 4}](auto, auto) { return &link; };
}

TEST(LanesChoice, WithoutMeasurementOnlyTheWishAndTheNodesCount) {
  EXPECT_EQ(choose_lanes(Operation::bcast, of(1 << 20), two_sites(), kUnknown, 0).lanes, 4U);
  EXPECT_EQ(choose_lanes(Operation::scatter, of(1 << 20), two_sites(), kUnknown, 0).lanes, 0U);
  EXPECT_EQ(choose_lanes(Operation::scatter, of(1 << 20), two_sites(), kUnknown, 3).lanes, 3U);
  EXPECT_EQ(choose_lanes(Operation::bcast, of(1 << 20), two_sites(), kUnknown, 9).lanes, 4U);
}

TEST(LanesChoice, ManyLanesWhereANodesOwnLinkIsNarrow) {
  const LanesChoice narrow = choose_lanes(Operation::bcast, of(64 << 20), two_sites(), by(kNarrowNodes), 0);
  EXPECT_EQ(narrow.lanes, 4U) << narrow.why;
  const LanesChoice wide = choose_lanes(Operation::bcast, of(64 << 20), two_sites(), by(kWideNodes), 0);
  EXPECT_EQ(wide.lanes, 1U) << wide.why;
}

// Where what the root hands on takes longer than what crosses: 3/4 of it at 10 MB/s against a quarter at 12.
TEST(LanesChoice, FewerLanesWhereASiteIsSlowInside) {
  LinkFacts facts = kNarrowNodes;
  facts.inside = 10e6;
  const LanesChoice slow = choose_lanes(Operation::bcast, of(64 << 20), two_sites(), by(facts), 0);
  EXPECT_EQ(slow.lanes, 2U) << slow.why;
  facts.inside = 1e9;
  EXPECT_EQ(choose_lanes(Operation::bcast, of(64 << 20), two_sites(), by(facts), 0).lanes, 4U);
}

// Sites 7, 3 and 9, in this order: the slowest of the links that the operation crosses counts, with its own connections.
TEST(LanesChoice, TheSlowestLinkCounts) {
  const std::vector<std::int32_t> sites{7, 7, 3, 3, 9};
  const std::vector<std::int32_t> nodes{0, 1, 2, 3, 4};
  const lanes::Placement placement(sites, nodes);
  const lanes::Link fast{.facts = kWideNodes, .streams = 2};
  lanes::Link slow{.facts = kWideNodes, .streams = 5};
  slow.facts.link = slow.facts.pair = 4e6;
  const lanes::Links links = [&](std::int32_t one, std::int32_t other) {
    return one + other == 12 ? &slow : &fast;  // 3 and 9
  };
  collectives::Arguments arguments = of(1 << 20);
  arguments.ranks = 5;
  const auto seconds = [&](Operation operation, std::uint32_t root, std::uint32_t streams) {
    arguments.root = root;
    const auto all = lanes::costs(operation, arguments, placement, links);
    EXPECT_EQ(all.back().streams, streams);
    return all.back().seconds;
  };
  EXPECT_LT(seconds(Operation::bcast, 0, 2), 0.1);
  EXPECT_GT(seconds(Operation::bcast, 2, 5), 0.2);
  EXPECT_GT(seconds(Operation::allreduce, 0, 5), 0.1);
  const lanes::Links one_unknown = [&](std::int32_t one, std::int32_t other) {
    return one + other == 12 ? nullptr : &fast;
  };
  EXPECT_TRUE(lanes::costs(Operation::allreduce, arguments, placement, one_unknown).empty());
  arguments.root = 0;
  EXPECT_FALSE(lanes::costs(Operation::bcast, arguments, placement, one_unknown).empty());
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
      const auto all = lanes::costs(operation, of(bytes), two_sites(), by(kNarrowNodes));
      const LanesChoice choice = choose_lanes(operation, of(bytes), two_sites(), by(kNarrowNodes), 0);
      double chosen = 0;
      for (const lanes::Cost& cost : all) chosen = cost.lanes == choice.lanes ? cost.seconds : chosen;
      for (const lanes::Cost& cost : all) EXPECT_GE(cost.seconds, chosen) << choice.why;
      EXPECT_TRUE(choice.why.starts_with("predicted: ")) << choice.why;
    }
  }
  const LanesChoice asked = choose_lanes(Operation::bcast, of(1 << 20), two_sites(), by(kWideNodes), 2);
  EXPECT_EQ(asked.lanes, 2U);
  EXPECT_TRUE(asked.why.starts_with("asked for; predicted: 2 lanes of 4 connections ")) << asked.why;
  EXPECT_NE(asked.why.find(", 1 lane of 4 connections "), std::string::npos) << asked.why;
  EXPECT_NE(asked.why.find(", 3 lanes of 4 connections "), std::string::npos) << asked.why;
}

// 16 pairs of ranks at 3 MB/s each, over 48 MB/s; and over twice that.
TEST(LanesChoice, ExchangesOfAllWithAllGainWherePairsAreFew) {
  EXPECT_FALSE(exchange_gains(two_sites(), by(kNarrowNodes)));
  LinkFacts wide = kNarrowNodes;
  wide.link *= 2;
  EXPECT_TRUE(exchange_gains(two_sites(), by(wide)));
  EXPECT_TRUE(exchange_gains(two_sites(), kUnknown));
}

TEST(LanesChoice, WhatHasNoDelegatesGoesOnceInOneDelay) {
  EXPECT_EQ(default_between_sites(Operation::gatherv), "linear");
  EXPECT_EQ(default_between_sites(Operation::alltoallv), "spread");
  EXPECT_EQ(default_between_sites(Operation::barrier), "");
}

}  // namespace
}  // namespace urakata::tune
