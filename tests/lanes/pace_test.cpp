// SPDX-License-Identifier: BSD-3-Clause
// What stays at a site goes at the pace of what crosses, where a rank has both to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>

#include "groups.hpp"

namespace urakata::lanes {
namespace {

constexpr std::uint32_t kRoot = 1;

// Of the root's nodes those that send inside its site, or receive from there, and which of them wait chunk by chunk for
// one that does so over the link.
struct Inside {
  std::uint32_t near = 0, paced = 0;
};

// Two sites of three ranks, 0 1 2 | 3 4 5.
Inside of_root(Operation operation, schedule::Kind kind, std::uint64_t bytes, std::uint32_t lanes) {
  std::mt19937 random(1);
  const Where where = make({3, 3}, 1, Order::blocks, random);
  Arguments arguments;
  arguments.ranks = where.ranks();
  arguments.rank = arguments.root = kRoot;
  arguments.bytes = bytes;
  const auto built = build(operation, arguments, where.placement(), lanes);
  EXPECT_TRUE(built.ok());
  Inside found;
  const auto nodes = built->nodes();
  const auto near = [&](const schedule::Node& node) {
    return where.sites[static_cast<std::size_t>(node.peer)] == where.sites[kRoot];
  };
  for (schedule::NodeId id = 0; id < nodes.size(); ++id) {
    if (nodes[id].kind != kind || !near(nodes[id])) continue;
    ++found.near;
    const auto waits = [&](const schedule::Edge& edge) {
      return edge.kind == schedule::EdgeKind::each && nodes[edge.from].kind == kind && !near(nodes[edge.from]);
    };
    if (std::ranges::any_of(built->into(id), waits)) ++found.paced;
  }
  return found;
}

TEST(Pace, OfBlocksOfTheRootsSiteIsThatOfBlocksThatCross) {
  for (const auto& [operation, kind] :
       {std::pair(Operation::scatter, schedule::Kind::send), std::pair(Operation::gather, schedule::Kind::recv)}) {
    const Inside long_blocks = of_root(operation, kind, 1 << 20, 0);
    EXPECT_EQ(long_blocks.near, 2U);
    EXPECT_EQ(long_blocks.paced, 2U);
    EXPECT_EQ(of_root(operation, kind, kSegment, 0).paced, 0U);  // one message each
  }
}

// One lane, the root's own: it hands on to two ranks of its site what it sends to the other one.
TEST(Pace, OfHandingOnIsThatOfCrossing) {
  const Inside found = of_root(Operation::bcast, schedule::Kind::send, 1 << 20, 1);
  EXPECT_EQ(found.near, 2U);
  EXPECT_EQ(found.paced, 2U);
}

TEST(Pace, SegmentsOfStraightBlocksAreSeveral) {
  EXPECT_EQ(straight_segment(0), kSegment);
  EXPECT_EQ(straight_segment(8 * kSegment), kSegment);
  EXPECT_EQ(straight_segment(20 * kSegment), 2 * kSegment);
  EXPECT_EQ(straight_segment(std::uint64_t{1} << 40), 4 * kSegment);
}

}  // namespace
}  // namespace urakata::lanes
