// SPDX-License-Identifier: BSD-3-Clause
// Every schedule between sites, proved by the checker for two to four sites of one to eight ranks each and every root;
// ranks are placed one after another, in turn or at random, one to three on a node. With URAKATA_TEST_FULL=1 every list
// of sizes; without it those of up to three sites but for their order, and of four sites some.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../seed.hpp"
#include "groups.hpp"

namespace urakata::lanes {
namespace {

constexpr Operation kOperations[] = {Operation::barrier, Operation::scatter,   Operation::gather,
                                     Operation::bcast,   Operation::allgather, Operation::allgatherv,
                                     Operation::reduce,  Operation::allreduce};
constexpr std::uint32_t kMostRanks = 8;  // of a site
constexpr std::uint32_t kLanes[] = {0, 1, 2, 3, 8};

bool full() {
  const char* const value = std::getenv("URAKATA_TEST_FULL");
  return value != nullptr && value[0] == '1';
}

std::uint32_t drawn(std::mt19937& random, std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); }

// How a group calls an operation besides its root.
struct Call {
  std::uint32_t lanes = 1;
  bool in_place = false, commutative = true;
  std::uint64_t bytes = 0, segment = 0;

  std::string words() const {
    return ", lanes " + std::to_string(lanes) + ", bytes " + std::to_string(bytes) + ", segment " +
           std::to_string(segment) + (in_place ? ", in place" : "") + (commutative ? "" : ", not commutative");
  }
};

// All lists of `sites` sizes up to `most`; `sorted`: one of those that differ by their order.
std::vector<Sizes> shapes(std::size_t sites, std::uint32_t most, bool sorted) {
  std::vector<Sizes> all = {{}};
  for (std::size_t site = 0; site < sites; ++site) {
    std::vector<Sizes> longer;
    for (const Sizes& sizes : all) {
      for (std::uint32_t size = sorted && !sizes.empty() ? sizes.back() : 1; size <= most; ++size) {
        longer.push_back(sizes);
        longer.back().push_back(size);
      }
    }
    all = std::move(longer);
  }
  return all;
}

class BetweenSites : public testing::TestWithParam<Operation> {
 protected:
  bool reduces() const { return collectives::is_reduction(GetParam()); }
  std::uint32_t roots(const Where& where) const { return collectives::is_rooted(GetParam()) ? where.ranks() : 1; }

  void prove_call(const Where& where, std::uint32_t root, const Call& how) {
    const Operation operation = GetParam();
    const Placement placement = where.placement();
    if (!covers(operation, how.commutative, placement)) return;
    Arguments common;
    common.ranks = where.ranks();
    common.root = root;
    common.in_place = how.in_place;
    common.bytes = how.bytes;
    common.segment = how.segment;
    common.commutative = how.commutative;
    if (reduces()) common.element = common.extent = 4;
    const auto made = call(operation, common, operation == Operation::allgatherv, [&](const Arguments& arguments) {
      return build(operation, arguments, placement, how.lanes);
    });
    const std::string words = where.words() + ", root " + std::to_string(root) + how.words();
    ASSERT_TRUE(made.ok()) << made.error().message << "; " << words;
    const auto proof = prove(*made);
    ASSERT_TRUE(proof.ok()) << proof.error().message << "; " << words;
  }

  // Over every number of lanes, in place and not, commutative and not.
  void prove_all_calls(const Where& where, std::uint32_t root, std::uint64_t bytes, std::uint64_t segment) {
    for (const bool commutative : {true, false}) {
      if (!commutative && !reduces()) continue;
      for (const bool in_place : {false, true}) {
        if (in_place && !collectives::may_be_in_place(GetParam())) continue;
        for (const std::uint32_t lanes : kLanes) {
          prove_call(where, root, {lanes, in_place, commutative, bytes, segment});
          if (HasFatalFailure()) return;
        }
      }
    }
  }

  // Every root of these sizes, each with a call and a place that are drawn.
  void prove_every_root(const Sizes& sizes, std::mt19937& random) {
    const std::uint32_t ranks = std::accumulate(sizes.begin(), sizes.end(), 0U);
    const std::uint32_t turns = collectives::is_rooted(GetParam()) ? ranks : 2;
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
      const bool commutative = !reduces() || drawn(random, 3) != 0;
      // What does not commute goes between sites whose ranks are neighbours only.
      const auto order = commutative ? static_cast<Order>(drawn(random, 3)) : Order::blocks;
      const Where where = make(sizes, 1 + drawn(random, 3), order, random);
      const Call how{.lanes = kLanes[drawn(random, std::size(kLanes))],
                     .in_place = collectives::may_be_in_place(GetParam()) && drawn(random, 2) != 0,
                     .commutative = commutative,
                     .bytes = 4 * std::uint64_t{drawn(random, 90)},
                     .segment = drawn(random, 2) == 0 ? 0 : 4 * std::uint64_t{1 + drawn(random, 9)}};
      prove_call(where, collectives::is_rooted(GetParam()) ? turn : 0, how);
      if (HasFatalFailure()) return;
    }
  }
  void prove_every_root(const std::vector<Sizes>& all) {
    const std::uint32_t seed = full() ? drawn_seed() : 2222U;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (const Sizes& sizes : all) {
      prove_every_root(sizes, random);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(BetweenSites, EveryCallOfSmallGroups) {
  std::mt19937 random(22);
  const std::vector<Sizes> small = {{1, 1}, {2, 1}, {3, 2}, {1, 4}, {2, 2, 2}, {1, 2, 3}, {2, 1, 1, 2}};
  for (const Sizes& sizes : small) {
    for (const Order order : {Order::blocks, Order::turns, Order::random}) {
      for (const std::uint32_t per_node : {1U, 2U}) {
        const Where where = make(sizes, per_node, order, random);
        for (std::uint32_t root = 0; root < roots(where); ++root) {
          prove_all_calls(where, root, 4 * 13, 0);
          prove_all_calls(where, root, 4 * 61, 4 * 5);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(BetweenSites, EveryRootOfTwoSites) { prove_every_root(shapes(2, kMostRanks, false)); }

TEST_P(BetweenSites, EveryRootOfThreeSites) { prove_every_root(shapes(3, kMostRanks, !full())); }

TEST_P(BetweenSites, EveryRootOfFourSites) {
  if (full()) return prove_every_root(shapes(4, kMostRanks, false));
  std::vector<Sizes> some = shapes(4, 3, true);
  std::mt19937 random(4);
  for (int i = 0; i < 24; ++i) {
    Sizes& sizes = some.emplace_back(4);
    for (std::uint32_t& size : sizes) size = 1 + drawn(random, kMostRanks);
  }
  prove_every_root(some);
}

// The default segment, and slices of it.
TEST_P(BetweenSites, LargerThanSegments) {
  std::mt19937 random(3);
  const Where two = make({2, 2}, 1, Order::blocks, random), three = make({2, 1, 1}, 1, Order::turns, random);
  prove_all_calls(two, roots(two) > 1 ? 1 : 0, 700 * 1024 + 4, 0);
  prove_all_calls(three, 0, 700 * 1024 + 4, 0);
}

INSTANTIATE_TEST_SUITE_P(All, BetweenSites, testing::ValuesIn(kOperations),
                         [](const auto& tested) { return std::string(collectives::name(tested.param)); });

}  // namespace
}  // namespace urakata::lanes
