// SPDX-License-Identifier: BSD-3-Clause
// 8 bytes to 4 ranks of a node: one step. 64 MiB to 64 hosts: a pipeline. And whatever is chosen can be built.
#include "tune/decision.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace urakata::tune::decision_test {
namespace {

using collectives::Operation;

constexpr std::uint64_t KiB = 1024;
constexpr std::uint64_t MiB = 1024 * KiB;

TEST(Decision, IsAnAlgorithmThatSuits) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Operation::count_); ++i) {
    const auto operation = static_cast<Operation>(i);
    for (std::uint32_t ranks : {1u, 2u, 3u, 4u, 5u, 8u, 16u, 33u, 64u}) {
      for (std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8}, 4 * KiB, 128 * KiB, 4 * MiB}) {
        for (bool commutative : {true, false}) {
          for (const Medium medium : {Medium::node, Medium::crowded, Medium::native, Medium::wire}) {
            const Choice choice = choose(operation, bytes, ranks, commutative, medium, bytes == 8 ? 4 : 1);
            const auto algorithm = collectives::algorithm_named(operation, choice.algorithm);
            ASSERT_TRUE(algorithm.ok()) << algorithm.error().message;
            EXPECT_TRUE(commutative || !(*algorithm)->commutative_only) << choice.algorithm;
            EXPECT_FALSE(choice.why.empty());
            std::vector<std::uint64_t> blocks(ranks, bytes);
            std::vector<std::int64_t> places(ranks);
            for (std::uint32_t r = 0; r < ranks; ++r) places[r] = static_cast<std::int64_t>(r * bytes);
            const auto built = (*algorithm)
                                   ->build({.ranks = ranks,
                                            .bytes = bytes,
                                            .element = 8,
                                            .extent = 8,
                                            .commutative = commutative,
                                            .send = {.bytes = blocks, .displacements = places},
                                            .recv = {.bytes = blocks, .displacements = places},
                                            .segment = choice.segment});
            EXPECT_TRUE(built.ok()) << built.error().message;
          }
        }
      }
    }
  }
}

TEST(Decision, FewStepsForSmallMessages) {
  EXPECT_EQ(choose(Operation::allgather, 8, 4, true, Medium::node).algorithm, "spread");
  EXPECT_EQ(choose(Operation::allgather, 8, 64, true, Medium::native).algorithm, "bruck");
  EXPECT_EQ(choose(Operation::allreduce, 8, 64, true, Medium::node).algorithm, "recursive_doubling");
  EXPECT_EQ(choose(Operation::alltoall, 8, 64, true, Medium::native).algorithm, "bruck");
  EXPECT_EQ(choose(Operation::reduce, 8, 16, true, Medium::node).algorithm, "binomial");
  EXPECT_EQ(choose(Operation::bcast, 8, 2, true, Medium::node).algorithm, "binomial");
}

// Receivers copy side by side what they read from the same rank, as long as it is short, or a stream.
TEST(Decision, FlatTreesWhereEachRankHasACore) {
  for (const std::uint64_t bytes : {std::uint64_t{8}, 4 * KiB, 8 * KiB, 64 * KiB, 8 * MiB}) {
    EXPECT_EQ(choose(Operation::bcast, bytes, 4, true, Medium::node).algorithm, "knomial") << bytes;
  }
  EXPECT_EQ(choose(Operation::bcast, 1 * MiB, 4, true, Medium::node).algorithm, "scatter_allgather");
  EXPECT_EQ(choose(Operation::bcast, 16 * KiB, 4, true, Medium::node).segment,
            choose(Operation::bcast, 8, 4, true, Medium::node).segment);
  EXPECT_EQ(choose(Operation::bcast, 64 * KiB, 4, true, Medium::node).segment, 16 * KiB);
  EXPECT_EQ(choose(Operation::bcast, 4 * MiB, 3, true, Medium::node).segment, 128 * KiB);
  EXPECT_EQ(choose(Operation::bcast, 1 * MiB, 4, true, Medium::crowded).algorithm, "binomial");
  EXPECT_EQ(choose(Operation::allgather, 16 * KiB, 4, true, Medium::node).algorithm, "spread");
  EXPECT_EQ(choose(Operation::allgather, 64 * KiB, 4, true, Medium::node).algorithm, "neighbour_exchange");
  EXPECT_EQ(choose(Operation::allgather, 512 * KiB, 4, true, Medium::node).algorithm, "ring");
  EXPECT_EQ(choose(Operation::allgather, 4 * MiB, 4, true, Medium::node).algorithm, "spread");
  EXPECT_EQ(choose(Operation::allgather, 4 * MiB, 4, true, Medium::node).segment, 256 * KiB);
  EXPECT_EQ(choose(Operation::allgather, 4 * MiB, 8, true, Medium::node).algorithm, "ring");
  EXPECT_EQ(choose(Operation::allreduce, 64 * KiB, 4, true, Medium::node).algorithm, "rabenseifner");
  EXPECT_EQ(choose(Operation::allreduce, 1 * MiB, 4, true, Medium::node).algorithm, "ring");
  EXPECT_EQ(choose(Operation::alltoall, 256 * KiB, 4, true, Medium::node).algorithm, "pairwise");
}

TEST(Decision, BandwidthForLargeOnes) {
  EXPECT_EQ(choose(Operation::bcast, 4 * MiB, 4, true, Medium::native).algorithm, "chain");
  EXPECT_EQ(choose(Operation::bcast, 64 * MiB, 64, true, Medium::native).algorithm, "chain");
  EXPECT_EQ(choose(Operation::reduce, 4 * MiB, 4, true, Medium::native).algorithm, "chain");
  EXPECT_EQ(choose(Operation::scan, 4 * MiB, 4, false, Medium::node).algorithm, "chain");
  EXPECT_NE(choose(Operation::allreduce, 4 * MiB, 8, true, Medium::native).algorithm, "recursive_doubling");
  EXPECT_EQ(choose(Operation::gather, 1 * MiB, 64, true, Medium::node).algorithm, "linear");
}

// Ranks that share a node share its link: what crosses links counts, not what each rank sends.
TEST(Decision, FewBytesOverLinksThatRanksShare) {
  const auto of = [](Operation operation, std::uint64_t bytes, std::uint32_t ranks, std::uint32_t ranks_per_node) {
    return choose(operation, bytes, ranks, true, Medium::wire, ranks_per_node).algorithm;
  };
  for (const std::uint64_t bytes : {64 * KiB, 1 * MiB}) {
    EXPECT_EQ(of(Operation::allreduce, bytes, 4, 2), "rabenseifner");
    EXPECT_EQ(of(Operation::allgather, bytes, 4, 2), "ring");
  }
  EXPECT_EQ(of(Operation::allgather, 8, 4, 2), "spread");
  EXPECT_EQ(of(Operation::bcast, 4 * KiB, 32, 16), "binomial");
  EXPECT_EQ(of(Operation::bcast, 4 * MiB, 32, 1), "chain");
  EXPECT_EQ(of(Operation::allreduce, 8, 32, 16), "recursive_doubling");
}

TEST(Decision, FewMessagesWhereRanksShareCores) {
  EXPECT_EQ(choose(Operation::allreduce, 32 * KiB, 4, true, Medium::crowded).algorithm, "reduce_bcast");
  EXPECT_EQ(choose(Operation::allreduce, 1 * MiB, 4, true, Medium::crowded).algorithm, "rabenseifner");
  EXPECT_EQ(choose(Operation::allreduce, 1 * MiB, 4, false, Medium::crowded).algorithm, "reduce_bcast");
}

// Longer messages never take shorter segments, and none longer ones than their medium takes best.
TEST(Decision, SegmentsGrowWithTheMessage) {
  for (const Medium medium : {Medium::native, Medium::wire}) {
    const std::uint64_t longest = medium == Medium::wire ? 64 * KiB : 32 * KiB;
    std::uint64_t before = 0;
    for (std::uint64_t bytes = 128 * KiB; bytes <= 256 * MiB; bytes *= 2) {
      const Choice choice = choose(Operation::bcast, bytes, 4, true, medium);
      ASSERT_EQ(choice.algorithm, "chain") << bytes;
      EXPECT_GE(choice.segment, before);
      before = choice.segment;
    }
    EXPECT_EQ(before, longest);
    EXPECT_EQ(choose(Operation::allgather, 4 * MiB, 4, true, medium).segment, longest);
    EXPECT_EQ(segment_of(medium), longest);
  }
}

}  // namespace
}  // namespace urakata::tune::decision_test
