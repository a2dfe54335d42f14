// SPDX-License-Identifier: BSD-3-Clause
#include "tune/lanes_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "lanes/model.hpp"

namespace urakata::tune::lanes_choice_test {
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
// All links are such.
lanes::Links by(const LinkFacts& facts) {
  return [facts](auto, auto) { return &facts; };
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
  LinkFacts fast_inside = kWideNodes;
  fast_inside.inside = 1e9;
  const LanesChoice wide = choose_lanes(Operation::bcast, of(64 << 20), two_sites(), by(fast_inside), 0);
  EXPECT_EQ(wide.lanes, 1U) << wide.why;
}

// With one lane a site leader hands on twice what it gets, with four each but its share: that pays where a site is slow
// inside, also where one node fills the link.
TEST(LanesChoice, MoreLanesWhereASiteIsSlowInside) {
  LinkFacts facts = kWideNodes;
  facts.inside = 60e6;
  const LanesChoice slow = choose_lanes(Operation::bcast, of(64 << 20), two_sites(), by(facts), 0);
  EXPECT_GT(slow.lanes, 1U) << slow.why;
  facts.inside = 1e9;
  EXPECT_EQ(choose_lanes(Operation::bcast, of(64 << 20), two_sites(), by(facts), 0).lanes, 1U);
}

// Sites 7, 3 and 9, in this order: the slowest of the links that the operation crosses counts, with its own
// connections.
TEST(LanesChoice, TheSlowestLinkCounts) {
  const std::vector<std::int32_t> sites{7, 7, 3, 3, 9};
  const std::vector<std::int32_t> nodes{0, 1, 2, 3, 4};
  const lanes::Placement placement(sites, nodes);
  const LinkFacts fast = kWideNodes;
  LinkFacts slow = kWideNodes;
  slow.stream = 1e6;
  slow.link = slow.pair = 4e6;
  const lanes::Links links = [&](std::int32_t one, std::int32_t other) {
    return one + other == 12 ? &slow : &fast;  // 3 and 9
  };
  collectives::Arguments arguments = of(1 << 20);
  arguments.ranks = 5;
  const auto seconds = [&](Operation operation, std::uint32_t root, std::uint32_t streams) {
    arguments.root = root;
    const auto all = lanes::costs(operation, arguments, placement, links);
    EXPECT_EQ(all.front().streams, streams);
    return all.front().seconds;
  };
  EXPECT_LT(seconds(Operation::bcast, 0, 4), 0.1);
  EXPECT_GT(seconds(Operation::bcast, 2, 4), 0.2);
  EXPECT_GT(seconds(Operation::allreduce, 0, 4), 0.1);
  const lanes::Links one_unknown = [&](std::int32_t one, std::int32_t other) {
    return one + other == 12 ? nullptr : &fast;
  };
  EXPECT_TRUE(lanes::costs(Operation::allreduce, arguments, placement, one_unknown).empty());
  arguments.root = 0;
  EXPECT_FALSE(lanes::costs(Operation::bcast, arguments, placement, one_unknown).empty());
}

// More lanes are taken only where they gain more than rates err by.
TEST(LanesChoice, HasTheFewestLanesOfThoseThatCostLeastAndSaysWhatItsNeighboursCost) {
  constexpr double kUnsure = 1.1;
  for (const Operation operation : {Operation::bcast, Operation::scatter, Operation::allreduce}) {
    for (const std::uint64_t bytes : {8U, 65536U, 64U << 20U}) {
      const auto all = lanes::costs(operation, of(bytes), two_sites(), by(kNarrowNodes));
      const LanesChoice choice = choose_lanes(operation, of(bytes), two_sites(), by(kNarrowNodes), 0);
      const double least = std::ranges::min(all, {}, &lanes::Cost::seconds).seconds;
      for (const lanes::Cost& cost : all) {
        if (cost.lanes == choice.lanes) EXPECT_LE(cost.seconds, kUnsure * least) << choice.why;
        if (cost.lanes < choice.lanes) EXPECT_GT(cost.seconds, kUnsure * least) << choice.why;
      }
      EXPECT_TRUE(choice.why.starts_with("predicted: ")) << choice.why;
    }
  }
  const LanesChoice asked = choose_lanes(Operation::bcast, of(1 << 20), two_sites(), by(kWideNodes), 2);
  EXPECT_EQ(asked.lanes, 2U);
  EXPECT_TRUE(asked.why.starts_with("asked for; predicted: 2 lanes of 2 connections ")) << asked.why;
  for (const char* const neighbour : {", 1 lane of 4 connections ", ", 3 lanes of 2 connections ",
                                      ", 2 lanes of 1 connection ", ", 2 lanes of 3 connections "}) {
    EXPECT_NE(asked.why.find(neighbour), std::string::npos) << asked.why << " lacks" << neighbour;
  }
}

// Ranks 0 to 3 at site 0, 4 to 7 at site 1. One lane takes four connections, and straight the four pairs one each.
TEST(LanesChoice, MessagesHaveTheConnectionsOfTheirOperation) {
  collectives::Arguments arguments = of(1 << 20);
  const auto at_other_site = [&](Operation operation, std::uint32_t lanes, std::uint32_t rank) {
    arguments.rank = rank;
    const auto all = choose_streams(operation, arguments, two_sites(), by(kWideNodes), lanes, 14'000);
    EXPECT_EQ(all.size(), 2U);
    EXPECT_EQ(all[rank < 4 ? 0 : 1].most, 0U);  // inside
    return all[rank < 4 ? 1 : 0];
  };
  EXPECT_EQ(at_other_site(Operation::bcast, 1, 0).most, 4U);
  EXPECT_EQ(at_other_site(Operation::bcast, 1, 0).first, 16U);
  EXPECT_EQ(at_other_site(Operation::bcast, 4, 0).most, 1U);
  EXPECT_EQ(at_other_site(Operation::bcast, 4, 0).first, 11U);
  for (const std::uint32_t rank : {0U, 5U}) EXPECT_EQ(at_other_site(Operation::gather, 0, rank).most, 1U);
  const auto unknown = choose_streams(Operation::bcast, arguments, two_sites(), kUnknown, 1, 14'000);
  EXPECT_EQ(unknown[0].most + unknown[1].most, 0U);
}

TEST(LanesChoice, WhatOthersKnowIsNotPredicted) {
  collectives::Arguments arguments = of(1 << 20);
  const auto said = [&](Operation operation) {
    return predicted_without_lanes(operation, arguments, two_sites(), by(kWideNodes));
  };
  EXPECT_TRUE(said(Operation::alltoall).starts_with("; predicted: straight of 1 connection "))
      << said(Operation::alltoall);
  arguments.rank = 3;
  EXPECT_EQ(said(Operation::gatherv), "; only the root knows how much crosses");
  EXPECT_EQ(predicted_without_lanes(Operation::alltoall, arguments, two_sites(), kUnknown),
            "; a link was not measured");
}

// 16 pairs of ranks at 3 MB/s each, over 48 MB/s; and over twice that.
TEST(LanesChoice, ExchangesOfAllWithAllGainWherePairsAreFew) {
  EXPECT_FALSE(exchange_gains(two_sites(), by(kNarrowNodes)));
  LinkFacts wide = kNarrowNodes;
  wide.link *= 2;
  EXPECT_TRUE(exchange_gains(two_sites(), by(wide)));
  EXPECT_TRUE(exchange_gains(two_sites(), kUnknown));
}

TEST(LanesChoice, WhatHasNoLeadersGoesOnceInOneDelay) {
  EXPECT_EQ(default_between_sites(Operation::gatherv), "linear");
  EXPECT_EQ(default_between_sites(Operation::alltoallv), "spread");
  EXPECT_EQ(default_between_sites(Operation::barrier), "");
}

}  // namespace
}  // namespace urakata::tune::lanes_choice_test
