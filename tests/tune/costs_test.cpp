// SPDX-License-Identifier: BSD-3-Clause
// "node.byte=10": a byte inside a node costs a hundred times the default, and so shorter messages take the ways on
// which each byte travels once.
#include "tune/costs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "tune/decision.hpp"

namespace urakata::tune::costs_test {
namespace {

using collectives::Operation;

constexpr std::uint64_t KiB = 1024;

std::string error_of(std::string_view list) {
  const Result<Costs> read = read_costs(list);
  return read ? "" : read.error().message;
}

TEST(Costs, EveryRowHasItsOwnPlaceAndADefaultThatIsValid) {
  Costs marked;
  double mark = 0;
  for (const CostRow& row : cost_table()) row.in(marked) = ++mark;
  mark = 0;
  for (const CostRow& row : cost_table()) {
    EXPECT_EQ(row.in(marked), ++mark) << row.name();
    Costs standard;
    const Result<double> again = cost_value(row, written_cost(row.in(standard)));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, row.in(standard)) << row.name();
    EXPECT_FALSE(row.measured.empty()) << row.name();
    ASSERT_TRUE(cost_named(row.name()).ok());
    EXPECT_EQ(*cost_named(row.name()), &row);
  }
}

TEST(Costs, AListReplacesWhatItNamesAndNothingElse) {
  Costs read = *read_costs("node.step=500,wire.segment_bytes=128K,native.byte=0.25");
  for (const CostRow& row : cost_table()) {
    Costs standard;
    const double expected = row.name() == "node.step"            ? 500
                            : row.name() == "wire.segment_bytes" ? 128 * 1024
                            : row.name() == "native.byte"        ? 0.25
                                                                 : row.in(standard);
    EXPECT_EQ(row.in(read), expected) << row.name();
  }
  EXPECT_TRUE(in_list("node.step=500,native.byte=1", **cost_named("native.byte")));
  EXPECT_FALSE(in_list("node.step=500,native.byte=1", **cost_named("wire.byte")));
}

TEST(Costs, NamesOfTheLastReleaseAreTaken) {
  for (const auto& [old, now] : {std::pair{"host.byte", "native.byte"}, std::pair{"helper.gap", "progress.gap"},
                                 std::pair{"exchange.pull_least", "channel.pull_least"},
                                 std::pair{"exchange.landing_most", "channel.bounce_most"},
                                 std::pair{"exchange.plan_landing", "channel.bounce_budget"},
                                 std::pair{"exchange.all_landing", "channel.bounce_total"},
                                 std::pair{"exchange.far_landing_most", "channel.far_bounce_most"},
                                 std::pair{"exchange.short_landing_most", "channel.short_bounce_most"}}) {
    ASSERT_TRUE(cost_named(old).ok()) << old;
    EXPECT_EQ((*cost_named(old))->name(), now);
  }
  EXPECT_EQ(error_of("host.stpe=1"), R"(no cost is called "host.stpe"; did you mean native.step?)");
}

TEST(Costs, WhatIsWrongIsNamed) {
  EXPECT_EQ(error_of("node.stpe=1"), R"(no cost is called "node.stpe"; did you mean node.step?)");
  EXPECT_EQ(error_of("common.turn=1"), "the cost common.turn is called common.time_slice now");
  EXPECT_EQ(error_of("xyzzyxyzzy=1"),
            R"(no cost is called "xyzzyxyzzy"; `urakata check --options --expert` lists them)");
  EXPECT_EQ(error_of("node.step=-1"), "node.step=-1: not a valid cost; use 0 to 1e+12 ns");
  for (const std::string_view bad : {"", "nan", "inf", "1x", "64K"}) {
    EXPECT_EQ(error_of("node.step=" + std::string(bad)),
              "node.step=" + std::string(bad) + ": not a valid cost; use 0 to 1e+12 ns");
  }
  EXPECT_NE(error_of("native.segment_bytes=0"), "");
  EXPECT_NE(error_of("native.segment_bytes=8T"), "");
}

TEST(Costs, DecideOnTheAlgorithm) {
  const auto of = [](std::uint64_t bytes, std::string_view list) {
    return choose(Operation::allreduce, bytes, 16, true, Medium::node, 1, *read_costs(list)).algorithm;
  };
  EXPECT_EQ(of(1 * KiB, ""), "recursive_doubling");
  EXPECT_EQ(of(1 * KiB, "node.byte=10"), "rabenseifner");
  EXPECT_EQ(of(1 * KiB, "native.byte=10"), "recursive_doubling") << "of another link";
}

TEST(Costs, DecideOnTheSegment) {
  for (const std::uint64_t longest : {1 * KiB, 8 * KiB, 128 * KiB}) {
    const Costs costs = *read_costs("wire.segment_bytes=" + std::to_string(longest));
    EXPECT_EQ(choose(Operation::bcast, 256 * KiB * KiB, 4, true, Medium::wire, 1, costs).segment, longest);
    EXPECT_EQ(choose(Operation::allgather, 4 * KiB * KiB, 4, true, Medium::wire, 1, costs).segment, longest);
    EXPECT_EQ(segment_of(Medium::wire, costs), longest);
    EXPECT_EQ(segment_of(Medium::native, costs), 32 * KiB);
  }
}

// 64 ranks of 256 KiB each are 16 MiB of inputs.
TEST(Costs, DecideOnTheReductionsThatTheLibraryHas) {
  const auto pays = [](std::uint64_t bytes, std::uint32_t ranks, std::string_view list) {
    return inputs_only_pays(bytes, ranks, *read_costs(list));
  };
  EXPECT_TRUE(pays(256 * KiB, 64, ""));
  EXPECT_FALSE(pays(256 * KiB + 1, 64, ""));
  EXPECT_FALSE(pays(8, 65, ""));
  EXPECT_TRUE(pays(8, 65, "common.inputs_ranks=65"));
  EXPECT_TRUE(pays(256 * KiB + 1, 64, "common.inputs_bytes=32M"));
}

// Any costs lead to an algorithm that there is.
TEST(Costs, ExtremesStillDecide) {
  for (const CostRow& row : cost_table()) {
    for (const double value : {row.least, row.most}) {
      Costs costs;
      row.in(costs) = value;
      for (std::size_t i = 0; i < static_cast<std::size_t>(Operation::count_); ++i) {
        const auto operation = static_cast<Operation>(i);
        for (const Medium medium : {Medium::node, Medium::crowded, Medium::native, Medium::wire}) {
          for (const std::uint64_t bytes : {std::uint64_t{0}, 8 * KiB, 4 * KiB * KiB}) {
            const Choice choice = choose(operation, bytes, 4, true, medium, 1, costs);
            EXPECT_TRUE(collectives::algorithm_named(operation, choice.algorithm).ok()) << row.name();
            EXPECT_GT(choice.segment, 0U) << row.name();
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace urakata::tune::costs_test
