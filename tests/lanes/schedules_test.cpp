// Every schedule between sites, proved by the checker for two to four sites of one to eight ranks each, placed one after
// another, in turn or at random, with one to three ranks a node; and what crosses between the sites, counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "collectives/expectation.hpp"
#include "lanes/lanes.hpp"
#include "schedule/checker.hpp"

namespace urakata::lanes {
namespace {

constexpr Operation kOperations[] = {Operation::scatter,   Operation::gather,     Operation::bcast,
                                     Operation::allgather, Operation::allgatherv, Operation::reduce,
                                     Operation::allreduce};

bool full() {
  const char* const value = std::getenv("URAKATA_TEST_FULL");
  return value != nullptr && value[0] == '1';
}

struct Where {
  std::vector<std::int32_t> sites, nodes;  // of each rank

  Placement placement() const { return {sites, nodes}; }
  std::string words() const {
    std::string text = "sites";
    for (const std::int32_t site : sites) text += " " + std::to_string(site);
    text += ", nodes";
    for (const std::int32_t node : nodes) text += " " + std::to_string(node);
    return text;
  }
};

enum class Order : std::uint8_t { blocks, turns, random };

// sizes[s] ranks at site s, `per_node` of them on a node.
Where make(const std::vector<std::uint32_t>& sizes, std::uint32_t per_node, Order order, std::mt19937& random) {
  std::vector<std::pair<std::int32_t, std::int32_t>> all;  // site, its how-manieth rank
  for (std::size_t site = 0; site < sizes.size(); ++site) {
    for (std::uint32_t i = 0; i < sizes[site]; ++i) all.emplace_back(site, i);
  }
  if (order == Order::turns) std::ranges::stable_sort(all, {}, &std::pair<std::int32_t, std::int32_t>::second);
  if (order == Order::random) std::ranges::shuffle(all, random);
  Where where;
  for (const auto& [site, at] : all) {
    where.sites.push_back(site);
    where.nodes.push_back(site * 100 + at / static_cast<std::int32_t>(per_node));
  }
  return where;
}

struct Crossed {
  std::uint64_t bytes = 0;
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> of_links;  // from site, to site
};

struct Asked {
  Operation operation{};
  std::uint32_t lanes = 1;
  Arguments common;
  bool uneven = false;
};

// Empty: proved.
std::string proved(const Asked& asked, const Where& where, Crossed* crossed = nullptr) {
  const Placement placement = where.placement();
  const collectives::ArgumentsOfAll all(asked.operation, asked.common, asked.uneven);
  std::vector<schedule::Schedule> schedules;
  for (const Arguments& arguments : all.ranks()) {
    auto built = build(asked.operation, arguments, placement, asked.lanes);
    if (!built) return built.error().message;
    schedules.push_back(std::move(*built));
  }
  const auto proof = schedule::check(schedules, collectives::expectation(asked.operation, all.ranks()));
  if (!proof) return proof.error().message;
  if (crossed != nullptr) {
    for (const schedule::Matched& message : proof->messages) {
      const std::int32_t from = where.sites[message.from];
      const std::int32_t to = where.sites[message.to];
      if (from == to) continue;
      crossed->bytes += message.bytes;
      crossed->of_links[{from, to}] += message.bytes;
    }
  }
  return "";
}

class BetweenSites : public testing::TestWithParam<Operation> {
 protected:
  void prove(const Where& where, std::uint32_t root, std::uint64_t bytes, std::uint64_t segment) {
    const Operation operation = GetParam();
    const auto ranks = static_cast<std::uint32_t>(where.sites.size());
    const bool reduces = collectives::is_reduction(operation);
    if (root != 0 && !collectives::is_rooted(operation)) return;
    for (const bool commutative : {true, false}) {
      if (!commutative && !reduces) continue;
      if (!covers(operation, commutative, where.placement())) continue;
      for (const bool in_place : {false, true}) {
        if (in_place && !collectives::may_be_in_place(operation)) continue;
        for (const std::uint32_t lanes : {0U, 1U, 2U, 3U, 8U}) {
          Asked asked{
              .operation = operation, .lanes = lanes, .common = {}, .uneven = operation == Operation::allgatherv};
          asked.common.ranks = ranks;
          asked.common.root = root;
          asked.common.in_place = in_place;
          asked.common.bytes = bytes;
          asked.common.segment = segment;
          asked.common.commutative = commutative;
          if (reduces) asked.common.element = asked.common.extent = 4;
          ASSERT_EQ(proved(asked, where), "")
              << where.words() << ", root " << root << ", lanes " << lanes << ", bytes " << bytes << ", segment "
              << segment << (in_place ? ", in place" : "") << (commutative ? "" : ", not commutative");
        }
      }
    }
  }
};

TEST_P(BetweenSites, EveryRootOfSmallGroups) {
  std::mt19937 random(22);
  const std::vector<std::vector<std::uint32_t>> shapes = {{1, 1},    {2, 1},    {3, 2},      {1, 4},
                                                          {2, 2, 2}, {1, 2, 3}, {2, 1, 1, 2}};
  for (const auto& sizes : shapes) {
    const std::uint32_t ranks = std::accumulate(sizes.begin(), sizes.end(), 0U);
    for (const Order order : {Order::blocks, Order::turns, Order::random}) {
      for (const std::uint32_t per_node : {1U, 2U}) {
        const Where where = make(sizes, per_node, order, random);
        for (std::uint32_t root = 0; root < ranks; ++root) {
          prove(where, root, 4 * 13, 0);
          prove(where, root, 4 * 61, 4 * 5);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(BetweenSites, UpToFourSitesOfEight) {
  const std::uint32_t seed = full() ? std::random_device{}() : 2222U;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int turn = 0; turn < (full() ? 200 : 8); ++turn) {
    std::vector<std::uint32_t> sizes(2 + random() % 3);
    for (std::uint32_t& size : sizes) size = 1 + static_cast<std::uint32_t>(random() % 8);
    const auto order = static_cast<Order>(random() % 3);
    const Where where = make(sizes, 1 + static_cast<std::uint32_t>(random() % 3), order, random);
    const auto ranks = static_cast<std::uint32_t>(where.sites.size());
    const std::uint64_t bytes = 4 * (random() % 90);
    prove(where, collectives::is_rooted(GetParam()) ? static_cast<std::uint32_t>(random() % ranks) : 0, bytes,
          random() % 2 == 0 ? 0 : 4 * (1 + random() % 9));
    if (HasFatalFailure()) return;
  }
}

// The default segment, and slices of it.
TEST_P(BetweenSites, LargerThanSegments) {
  std::mt19937 random(3);
  prove(make({2, 2}, 1, Order::blocks, random), 1, 700 * 1024 + 4, 0);
  prove(make({2, 1, 1}, 1, Order::turns, random), 0, 700 * 1024 + 4, 0);
}

INSTANTIATE_TEST_SUITE_P(All, BetweenSites, testing::ValuesIn(kOperations),
                         [](const auto& tested) { return std::string(collectives::name(tested.param)); });

// Three sites of 3, 2 and 4 ranks, 1000 bytes: what crosses each link is the least that there is to tell.
TEST(Crossing, IsTheLeast) {
  std::mt19937 random(1);
  const std::vector<std::uint32_t> sizes = {3, 2, 4};
  constexpr std::uint64_t kBytes = 1000;
  for (const Order order : {Order::blocks, Order::turns}) {
    const Where where = make(sizes, 1, order, random);
    for (const std::uint32_t lanes : {1U, 3U}) {
      const auto crossed = [&](Operation operation, std::uint64_t bytes) {
        Asked asked{.operation = operation, .lanes = lanes, .common = {}};
        asked.common.ranks = 9;
        asked.common.bytes = bytes;
        asked.common.commutative = true;
        if (collectives::is_reduction(operation)) asked.common.element = asked.common.extent = 4;
        Crossed found;
        EXPECT_EQ(proved(asked, where, &found), "");
        return found;
      };
      // Root 0 is at site 0: the blocks of the other 6 ranks.
      EXPECT_EQ(crossed(Operation::scatter, kBytes).bytes, 6 * kBytes);
      EXPECT_EQ(crossed(Operation::gather, kBytes).bytes, 6 * kBytes);
      EXPECT_EQ(crossed(Operation::bcast, kBytes).bytes, 2 * kBytes);
      EXPECT_EQ(crossed(Operation::reduce, kBytes).bytes, 2 * kBytes);
      for (const auto& [link, bytes] : crossed(Operation::allgather, kBytes).of_links) {
        EXPECT_EQ(bytes, sizes[static_cast<std::size_t>(link.first)] * kBytes);
      }
      for (const auto& [link, bytes] : crossed(Operation::allreduce, kBytes).of_links) EXPECT_EQ(bytes, kBytes);
      // Large: a third of the bytes to each site, and a third of the result.
      constexpr std::uint64_t kLarge = 9 * 12 * 1024;
      for (const auto& [link, bytes] : crossed(Operation::allreduce, kLarge).of_links) EXPECT_EQ(bytes, kLarge / 3 * 2);
    }
  }
}

TEST(Placement, DelegatesAreOnNodesOfTheirOwn) {
  // Ranks 0 1 2 at site 7 (two on node 1), 3 4 5 at site 9, each on its own node.
  const Placement placement(std::vector<std::int32_t>{7, 7, 7, 9, 9, 9}, std::vector<std::int32_t>{1, 1, 2, 3, 4, 5});
  EXPECT_EQ(placement.sites(), 2U);
  EXPECT_EQ(placement.most_lanes(), 3U);
  EXPECT_TRUE(placement.in_order());
  EXPECT_EQ(placement.delegate(0, 0), 0U);
  EXPECT_EQ(placement.delegate(0, 1), 2U);
  EXPECT_EQ(placement.delegate(0, 2), 0U);
  EXPECT_EQ(placement.delegate(1, 2), 5U);
  EXPECT_EQ(placement.delegate(0, 0, 1), 1U);  // the root stands for its node
  EXPECT_EQ(placement.delegate(0, 1, 1), 2U);
  EXPECT_EQ(placement.delegate(0, 0, 2), 2U);
  EXPECT_EQ(placement.delegate(0, 1, 2), 0U);
}

}  // namespace
}  // namespace urakata::lanes
