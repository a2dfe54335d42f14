// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm of every operation, all ranks simulated in a random order of events, against plain references.
#include <gtest/gtest.h>

#include <numeric>

#include "case.hpp"

namespace urakata::collectives::algorithms_test {
namespace {

struct Named {
  Operation operation;
  const Algorithm* algorithm;
};

std::vector<Named> everything() {
  std::vector<Named> all;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Operation::count_); ++i) {
    const auto operation = static_cast<Operation>(i);
    for (const Algorithm& algorithm : algorithms(operation)) all.push_back({operation, &algorithm});
  }
  return all;
}

std::string words(const Case& c) {
  return std::to_string(c.ranks) + " ranks, root " + std::to_string(c.root) + (c.in_place ? ", in place, " : ", ") +
         std::to_string(c.bytes) + " bytes, segment " + std::to_string(c.segment) + (c.in_turn ? ", in turn" : "") +
         ", extent " + std::to_string(c.extent) + (c.commutative ? "" : ", not commutative");
}

class EveryAlgorithm : public testing::TestWithParam<Named> {
 protected:
  void TearDown() override { EXPECT_TRUE(IsSkipped() || HasFailure() || ran_ > 0) << "no case was for this operation"; }

  void check(Case c) {
    c.operation = GetParam().operation;
    if (!c.commutative && (!is_reduction(c.operation) || GetParam().algorithm->commutative_only)) return;
    if (c.in_place && !may_be_in_place(c.operation)) return;
    if (c.root != 0 && !is_rooted(c.operation)) return;
    if (c.extent != 8 && !is_reduction(c.operation)) return;
    ++ran_;
    ASSERT_EQ(run(c, *GetParam().algorithm), "") << words(c);
  }

 private:
  int ran_ = 0;
};

// Groups of 1 to 17, 32, 33 and 64 ranks; first, second, middle and last root; nothing, one element, and an odd number.
TEST_P(EveryAlgorithm, AnyGroupAnyRoot) {
  std::vector<std::uint32_t> sizes(17);
  std::iota(sizes.begin(), sizes.end(), 1u);
  for (std::uint32_t more : {32u, 33u, 64u}) sizes.push_back(more);
  std::uint64_t seed = 1;
  for (std::uint32_t ranks : sizes) {
    for (std::uint32_t root : {0u, 1u, ranks / 2, ranks - 1}) {
      if (root >= ranks) continue;
      for (bool in_place : {false, true}) {
        for (std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{13 * 8}}) {
          for (bool commutative : {true, false}) {
            check({.ranks = ranks,
                   .root = root,
                   .in_place = in_place,
                   .bytes = bytes,
                   .commutative = commutative,
                   .seed = ++seed});
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// Streams: segments of 5 elements, so that windows, rings of segments and last segments all come into play.
TEST_P(EveryAlgorithm, ManySegments) {
  std::uint64_t seed = 1000;
  for (std::uint32_t ranks : {2u, 3u, 4u, 5u, 7u, 8u}) {
    for (std::uint32_t root : {0u, ranks - 1}) {
      for (bool in_place : {false, true}) {
        for (std::uint64_t bytes : {std::uint64_t{8 * 5 * 11}, std::uint64_t{8 * 163}, std::uint64_t{8 * 1000}}) {
          for (bool commutative : {true, false}) {
            check({.ranks = ranks,
                   .root = root,
                   .in_place = in_place,
                   .bytes = bytes,
                   .commutative = commutative,
                   .segment = 43,
                   .seed = ++seed});
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// Nothing received ahead of its turn.
TEST_P(EveryAlgorithm, InTurn) {
  std::uint64_t seed = 1500;
  for (std::uint32_t ranks : {1u, 2u, 3u, 4u, 5u, 8u, 12u}) {
    for (bool in_place : {false, true}) {
      for (std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{8 * 163}}) {
        for (std::uint64_t segment : {0u, 43u}) {
          for (std::uint32_t root : {0u, ranks - 1}) {
            check({.ranks = ranks,
                   .root = root,
                   .in_place = in_place,
                   .bytes = bytes,
                   .segment = segment,
                   .in_turn = true,
                   .seed = ++seed});
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// The default segments and slices: longer than several of them, by one element.
TEST_P(EveryAlgorithm, LargerThanSegments) {
  std::uint64_t seed = 2000;
  for (std::uint32_t ranks : {2u, 3u, 5u}) {
    for (bool in_place : {false, true}) {
      for (bool commutative : {true, false}) {
        check({.ranks = ranks,
               .in_place = in_place,
               .bytes = 700 * 1024 + 8,
               .commutative = commutative,
               .seed = ++seed});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Elements with holes are packed before other operations.
class EveryReduction : public EveryAlgorithm {};

// Elements of 8 bytes, 24 bytes apart: what lies between them is not touched.
TEST_P(EveryReduction, ElementsWithHoles) {
  std::uint64_t seed = 3000;
  for (std::uint32_t ranks : {1u, 2u, 3u, 4u, 6u, 9u}) {
    for (bool in_place : {false, true}) {
      for (std::uint64_t segment : {0u, 40u}) {
        for (bool commutative : {true, false}) {
          check({.ranks = ranks,
                 .root = ranks - 1,
                 .in_place = in_place,
                 .bytes = 8 * 101,
                 .commutative = commutative,
                 .extent = 24,
                 .segment = segment,
                 .seed = ++seed});
          if (HasFatalFailure()) return;
          check({.ranks = ranks,
                 .in_place = in_place,
                 .bytes = 8 * 101,
                 .commutative = commutative,
                 .extent = 24,
                 .segment = segment,
                 .seed = ++seed});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// All but those of alltoallv, whose reference would need 90000 blocks; alltoall has the same code.
class EveryAlgorithmOfManyRanks : public EveryAlgorithm {};

// 300 ranks: more steps than there are channels.
TEST_P(EveryAlgorithmOfManyRanks, MoreStepsThanChannels) {
  check({.ranks = 300, .root = 7, .bytes = 16, .seed = 4000});
  check({.ranks = 300, .bytes = 16, .seed = 4001});
}

std::string name_of(const testing::TestParamInfo<Named>& tested) {
  return std::string(name(tested.param.operation)) + "_" + std::string(tested.param.algorithm->name);
}

std::vector<Named> those(bool (*are)(Operation)) {
  std::vector<Named> all = everything();
  std::erase_if(all, [&](const Named& one) { return !are(one.operation); });
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, EveryAlgorithm, testing::ValuesIn(everything()), name_of);
INSTANTIATE_TEST_SUITE_P(All, EveryReduction, testing::ValuesIn(those(is_reduction)), name_of);
INSTANTIATE_TEST_SUITE_P(All, EveryAlgorithmOfManyRanks,
                         testing::ValuesIn(those([](Operation one) { return one != Operation::alltoallv; })), name_of);

// 8 ranks, 10000 segments down the chain: a handful of nodes, not 10000.
TEST(Chain, TenThousandSegmentsAreTwoNodes) {
  Arguments arguments;
  arguments.ranks = 8;
  arguments.rank = 3;
  arguments.bytes = 10000 * 1024;
  arguments.segment = 1024;
  auto built = (*algorithm_named(Operation::bcast, "chain"))->build(arguments);
  ASSERT_TRUE(built.ok());
  EXPECT_EQ(built->nodes().size(), 2u);
  EXPECT_EQ(built->nodes()[0].count, 10000u);
}

TEST(Names, OfEveryOperationReadBack) {
  for (const Named& each : everything()) {
    EXPECT_EQ(*operation_named(name(each.operation)), each.operation);
    EXPECT_EQ(*algorithm_named(each.operation, each.algorithm->name), each.algorithm);
  }
}

TEST(Names, AnUnknownAlgorithmIsAnsweredWithTheValidOnes) {
  EXPECT_EQ(algorithm_named(Operation::bcast, "rign").error().message,
            "bcast has no algorithm \"rign\"; it has binomial, knomial, chain, scatter_allgather");
  EXPECT_NE(operation_named("broadcast").error().message.find("barrier, bcast, gather"), std::string::npos);
}

TEST(OutOfOrder, IsRefusedWithASentence) {
  Arguments arguments;
  arguments.ranks = 4;
  arguments.commutative = false;
  auto built = (*algorithm_named(Operation::allreduce, "ring"))->build(arguments);
  ASSERT_FALSE(built.ok());
  EXPECT_NE(built.error().message.find("does not commute"), std::string::npos);
}

}  // namespace
}  // namespace urakata::collectives::algorithms_test
