// SPDX-License-Identifier: BSD-3-Clause
// A broadcast of 48 MB over a link of 48 MB/s that one node fills, 8 ms long: 8 ms and a second to cross, and two hops
// inside the site beyond. Each number here is one that the formula in lanes/model.hpp gives by hand.
#include "lanes/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "groups.hpp"
#include "lanes/inside.hpp"

namespace urakata::lanes {
namespace {

constexpr double kMega = 1e6;
// 8 ms; a node's own link carries a quarter of the long one, by four connections.
constexpr LinkFacts kNarrowNodes{.delay = 0.008, .stream = 3e6, .pair = 12e6, .link = 48e6};
// One node fills the link, by four connections.
constexpr LinkFacts kWideNodes{.delay = 0.008, .stream = 12e6, .pair = 48e6, .link = 48e6};
// Two nodes carry what their 16 connections do, so nothing is known of the nodes themselves.
constexpr LinkFacts kSlowStreams{.delay = 0.008, .stream = 1e6, .pair = 16e6, .link = 48e6};

// Two sites of so many nodes with a rank each.
Placement two_sites(std::uint32_t nodes) {
  std::vector<std::int32_t> sites, all;
  for (std::uint32_t rank = 0; rank < 2 * nodes; ++rank) {
    sites.push_back(rank < nodes ? 0 : 1);
    all.push_back(static_cast<std::int32_t>(rank));
  }
  return {sites, all};
}

Arguments of(std::uint32_t ranks, std::uint64_t bytes) {
  Arguments arguments;
  arguments.ranks = ranks;
  arguments.bytes = bytes;
  return arguments;
}

Links by(const LinkFacts& facts) {
  return [&facts](auto, auto) { return &facts; };
}

constexpr Way lanes_of(std::uint32_t lanes) { return {.pairs = lanes, .nodes = lanes}; }

TEST(Model, TheRateIsThatOfConnectionsOfNodesOrOfTheLink) {
  EXPECT_EQ(rate(kNarrowNodes, lanes_of(1), 2), 6 * kMega);
  EXPECT_EQ(rate(kNarrowNodes, lanes_of(1), 5), 12 * kMega);
  EXPECT_EQ(rate(kNarrowNodes, lanes_of(3), 4), 36 * kMega);
  EXPECT_EQ(rate(kNarrowNodes, lanes_of(8), 4), 48 * kMega);
  EXPECT_EQ(rate(kNarrowNodes, {.pairs = 4, .nodes = 1}, 4), 12 * kMega);  // the root's own node
  EXPECT_EQ(rate(kSlowStreams, lanes_of(1), 16), 16 * kMega);
  EXPECT_EQ(rate(kSlowStreams, {.pairs = 4, .nodes = 1}, 12), 48 * kMega);
}

TEST(Model, ConnectionsAreFewerWhereLanesAreMore) {
  EXPECT_EQ(streams_for(kWideNodes, lanes_of(1)), 4U);
  EXPECT_EQ(streams_for(kWideNodes, lanes_of(2)), 2U);
  EXPECT_EQ(streams_for(kWideNodes, lanes_of(4)), 1U);
  EXPECT_EQ(streams_for(kNarrowNodes, lanes_of(1)), 4U);  // as the node carries
  EXPECT_EQ(streams_for(kNarrowNodes, lanes_of(4)), 4U);
  EXPECT_EQ(streams_for(kSlowStreams, lanes_of(1)), kMostStreams);
}

// Of what the link holds none is left out, and of what it does not hold as few are added as carry nine tenths.
TEST(Model, ConnectionsAreAsManyAsTheLinkHolds) {
  const auto streams = [](double of_link) {
    return streams_for({.delay = 0.008, .stream = 1e6, .pair = of_link * 1e6, .link = of_link * 1e6}, lanes_of(1));
  };
  EXPECT_EQ(streams(9.95), 10U);
  EXPECT_EQ(streams(9.6), 9U);
  EXPECT_EQ(streams(10.4), 10U);
  EXPECT_EQ(streams(2.5), 3U);
  EXPECT_EQ(streams(2.1), 2U);
}

// 768 kB are on the way in a round trip: 54 first flights.
TEST(Model, FirstFlightsOfAllPairsFillTheLink) {
  EXPECT_EQ(first_streams_for(kNarrowNodes, lanes_of(4), 4, 14'000), 11U);
  EXPECT_EQ(first_streams_for(kNarrowNodes, lanes_of(1), 4, 14'000), 16U);
  EXPECT_EQ(first_streams_for(kNarrowNodes, lanes_of(64), 4, 14'000), 4U);
  EXPECT_EQ(first_streams_for(kNarrowNodes, lanes_of(1), 20, 14'000), 20U);
}

TEST(Model, LossIsWaitedForAtTheEnd) {
  LinkFacts lossy = kWideNodes;
  EXPECT_EQ(loss_wait(lossy, 1e6, lanes_of(1), 4), 0);
  lossy.loss = 0.01;
  EXPECT_EQ(loss_wait(lossy, 0, lanes_of(1), 4), 0);
  // One packet, which is its connection's last, too: lost once in a hundred times, and then two round trips late.
  EXPECT_NEAR(loss_wait(lossy, 1448, lanes_of(1), 4), 2 * 0.016 * 0.01, 1e-9);
  // Of 768 kB under way, 531 packets, one is surely lost; of four that are the last of their connections one in 25
  // times.
  EXPECT_NEAR(loss_wait(lossy, 64e6, lanes_of(1), 4),
              0.016 * (1 - std::pow(0.99, 531)) + 0.016 * (1 - std::pow(0.99, 4)), 1e-9);
  lossy.loss = 1;
  EXPECT_NEAR(loss_wait(lossy, 64e6, lanes_of(1), 4), 2 * 0.016, 1e-9);
}

TEST(Model, OfABroadcastByHand) {
  const auto all = costs(Operation::bcast, of(8, 48'000'000), two_sites(4), by(kWideNodes));
  ASSERT_EQ(all.size(), 4U);
  const double hop = 65536 / kInside;
  // One lane: the root sends it over the link and to two of its site, by a link of its own of 125 MB/s; beyond two
  // hops.
  EXPECT_EQ(all[0].streams, 4U);
  EXPECT_NEAR(all[0].seconds, 0.008 + 3 * 48e6 / kInside + 2 * hop + 3 * kHop, 1e-9);
  // Four: half of that, which takes less than what crosses, and one hop more, to the leader of the lane.
  EXPECT_EQ(all[3].streams, 1U);
  EXPECT_NEAR(all[3].seconds, 0.008 + 1 + 3 * hop + 4 * kHop, 1e-9);
}

// The root's site has one node, which carries 12 MB/s over however many lanes: 48 MB take four seconds to cross, and
// four lanes need one connection each for that.
TEST(Model, LanesThatShareANodeShareItsRate) {
  const std::vector<std::int32_t> sites{0, 1, 1, 1, 1}, nodes{0, 1, 2, 3, 4};
  const auto all = costs(Operation::bcast, of(5, 48'000'000), {sites, nodes}, by(kNarrowNodes));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].streams, 4U);
  EXPECT_EQ(all[3].streams, 1U);
  for (const Cost& cost : all) EXPECT_NEAR(cost.seconds, 0.008 + 4 + 2 * 65536 / kInside + 3 * kHop, 1e-9);
}

// What the root's node sends takes longer than what crosses: three times 48 MB at 60 MB/s, and 3/2 of it over four
// lanes.
TEST(Model, WhereASiteIsSlowInside) {
  LinkFacts facts = kWideNodes;
  facts.inside = 60e6;
  const auto all = costs(Operation::bcast, of(8, 48'000'000), two_sites(4), by(facts));
  const double hop = 65536 / facts.inside;
  EXPECT_NEAR(all[0].seconds, 0.008 + 2.4 + 2 * hop + 3 * kHop, 1e-9);
  EXPECT_NEAR(all[3].seconds, 0.008 + 1.2 + 3 * hop + 4 * kHop, 1e-9);
}

// Twelve MB to each of four ranks over 16 MB/s by one pair, or by four pairs with as many connections as 48 MB/s hold.
TEST(Model, StraightAllPairsCarryAtTheSameTime) {
  const auto all = costs(Operation::scatter, of(8, 12'000'000), two_sites(4), by(kSlowStreams));
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].lanes, 0U);
  EXPECT_EQ(all[0].streams, 12U);
  EXPECT_NEAR(all[0].seconds, 0.008 + 48e6 / 48e6 + kHop, 1e-9);
  EXPECT_EQ(all[1].streams, 16U);
  EXPECT_NEAR(all[1].seconds, 0.008 + 3 + 65536 / kInside + 2 * kHop, 1e-9);
}

TEST(Model, FewerConnectionsCostMoreAndMoreOfThemBringNothing) {
  LinkFacts lossy = kNarrowNodes;
  lossy.loss = 0.001;
  for (const std::uint32_t lanes : {1U, 2U, 4U}) {
    const Arguments arguments = of(8, 4'000'000);
    const Cost chosen = costs(Operation::bcast, arguments, two_sites(4), by(lossy))[lanes - 1];
    for (std::int32_t more = 1 - static_cast<std::int32_t>(chosen.streams); more <= 3; ++more) {
      const auto other = cost_with(Operation::bcast, arguments, two_sites(4), by(lossy), lanes, more);
      ASSERT_TRUE(other.has_value());
      EXPECT_EQ(static_cast<std::int32_t>(other->streams), static_cast<std::int32_t>(chosen.streams) + more);
      // One less may be enough: a tenth more than that are taken.
      if (more < -1) {
        EXPECT_GT(other->seconds, chosen.seconds) << lanes << " lanes, " << more;
      } else if (more > 0) {
        EXPECT_GE(other->seconds, chosen.seconds) << lanes << " lanes, " << more;
      }
    }
  }
  EXPECT_FALSE(cost_with(Operation::bcast, of(8, 100), two_sites(4), by(kSlowStreams), 1, 1).has_value());
}

// H beside what the schedules of all ranks really have them send and receive.
TEST(Model, WhatNodesMoveIsWhatTheSchedulesMove) {
  constexpr std::uint64_t kMuch = 1'200'000;
  const Placement placement = two_sites(4);
  for (const Operation operation : {Operation::scatter, Operation::gather, Operation::bcast, Operation::reduce,
                                    Operation::allreduce, Operation::allgather}) {
    for (std::uint32_t lanes = 1; lanes <= 4; ++lanes) {
      for (const std::uint32_t root : {0U, 2U}) {
        Arguments common = of(8, kMuch);
        common.root = root;
        if (collectives::is_reduction(operation)) common.element = common.extent = 4;
        const auto made = call(operation, common, false,
                               [&](const Arguments& of_rank) { return build(operation, of_rank, placement, lanes); });
        ASSERT_TRUE(made.ok()) << made.error().message;
        const auto proof = prove(*made);
        ASSERT_TRUE(proof.ok()) << proof.error().message;
        std::vector<double> sent(8, 0), received(8, 0);
        for (const schedule::Matched& message : proof->messages) {
          sent[message.from] += static_cast<double>(message.bytes);
          received[message.to] += static_cast<double>(message.bytes);
        }
        const double busiest = std::max(*std::ranges::max_element(sent), *std::ranges::max_element(received));
        const Inside model = inside(operation, common, placement, 0, 1, lanes);
        // What nodes hand on for each other falls on all alike in the model, and in a tree of four by up to a quarter
        // not.
        EXPECT_LE(model.bytes, 1.11 * busiest)
            << collectives::name(operation) << ", lanes " << lanes << ", root " << root;
        EXPECT_GE(model.bytes, 0.72 * busiest)
            << collectives::name(operation) << ", lanes " << lanes << ", root " << root;
      }
    }
  }
}

TEST(Model, OfExchangesWithoutLeaders) {
  const Placement placement = two_sites(4);
  // 16 pairs exchange 3 MB each: 48 MB each way.
  const auto exchanged = cost_without_lanes(Operation::alltoall, of(8, 3'000'000), placement, by(kWideNodes));
  ASSERT_TRUE(exchanged.has_value());
  EXPECT_NEAR(exchanged->seconds, 0.008 + 1 + kHop, 1e-9);
  // The root of a scatterv has nothing for its own site, and 48 MB for the other one.
  const std::vector<std::uint64_t> bytes{0, 0, 0, 0, 1'000'000, 40'000'000, 0, 7'000'000};
  const std::vector<std::int64_t> places(8, 0);
  Arguments root = of(8, 0);
  root.send = {.bytes = bytes, .displacements = places};
  const auto scattered = cost_without_lanes(Operation::scatterv, root, placement, by(kWideNodes));
  ASSERT_TRUE(scattered.has_value());
  EXPECT_NEAR(scattered->seconds, 0.008 + 1 + kHop, 1e-9);
  Arguments other = of(8, 1'000'000);
  other.rank = 5;
  EXPECT_FALSE(cost_without_lanes(Operation::scatterv, other, placement, by(kWideNodes)).has_value());
  EXPECT_FALSE(
      cost_without_lanes(Operation::alltoall, of(8, 1), placement, [](auto, auto) { return nullptr; }).has_value());
  // Rank 5 has 12 MB for the other site, and is taken to be one of four such.
  const std::vector<std::uint64_t> own{12'000'000, 0, 0, 0, 0, 0, 0, 0}, none(8, 0);
  other.send = {.bytes = own, .displacements = places};
  other.recv = {.bytes = none, .displacements = places};
  const auto exchanged_v = cost_without_lanes(Operation::alltoallv, other, placement, by(kWideNodes));
  ASSERT_TRUE(exchanged_v.has_value());
  EXPECT_NEAR(exchanged_v->seconds, 0.008 + 1 + kHop, 1e-9);
}

}  // namespace
}  // namespace urakata::lanes
