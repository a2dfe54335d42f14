// SPDX-License-Identifier: BSD-3-Clause
// Whoever asks for the schedule of equal arguments gets the one that was built first, until it has not been used for
// longest.
#include "collectives/schedule_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "schedule/text.hpp"

namespace urakata::collectives::schedule_table_test {
namespace {

constexpr std::size_t kRoom = 1UL << 20U;

const Algorithm& first(Operation operation) { return algorithms(operation).front(); }

std::shared_ptr<const schedule::Schedule> keep(ScheduleTable& table, const Algorithm& algorithm,
                                               const Arguments& arguments) {
  return table.keep(algorithm, arguments, *algorithm.build(arguments));
}

// Arguments with arrays of their own.
struct Blocked {
  std::vector<std::uint64_t> bytes = {8, 16, 24};
  std::vector<std::int64_t> displacements = {0, 8, 24};
  std::vector<std::uint32_t> ranks = {0, 1, 2};
  Arguments arguments() const {
    return {.ranks = 3,
            .rank = 1,
            .bytes = 16,
            .send = {bytes, displacements},
            .recv = {bytes, displacements},
            .neighbours = {ranks, ranks, {}},
            .segment = 4096};
  }
};

TEST(ScheduleTable, EqualArgumentsHaveOneSchedule) {
  ScheduleTable table(kRoom);
  const Blocked one;
  const Blocked other;
  const Algorithm& algorithm = first(Operation::alltoallv);
  EXPECT_EQ(table.find(algorithm, one.arguments()), nullptr);
  const auto kept = keep(table, algorithm, one.arguments());
  EXPECT_EQ(table.find(algorithm, other.arguments()), kept);
  EXPECT_EQ(keep(table, algorithm, other.arguments()), kept);
}

TEST(ScheduleTable, EachArgumentTellsSchedulesApart) {
  ScheduleTable table(kRoom);
  const Blocked blocked;
  const Algorithm& algorithm = first(Operation::alltoallv);
  keep(table, algorithm, blocked.arguments());
  EXPECT_EQ(table.find(first(Operation::neighbor_alltoallv), blocked.arguments()), nullptr);

  std::vector<std::uint64_t> bytes = blocked.bytes;
  std::vector<std::int64_t> displacements = blocked.displacements;
  std::vector<std::uint32_t> ranks = blocked.ranks;
  ++bytes.back();
  ++displacements.back();
  ++ranks.back();
  const std::vector<std::function<void(Arguments&)>> changes = {
      [](Arguments& a) { a.ranks = 4; },
      [](Arguments& a) { a.rank = 2; },
      [](Arguments& a) { a.root = 1; },
      [](Arguments& a) { a.in_place = true; },
      [](Arguments& a) { a.bytes = 17; },
      [](Arguments& a) { a.element = 4; },
      [](Arguments& a) { a.extent = 8; },
      [](Arguments& a) { a.commutative = false; },
      [&](Arguments& a) { a.send.bytes = bytes; },
      [&](Arguments& a) { a.send.displacements = displacements; },
      [&](Arguments& a) { a.recv.bytes = bytes; },
      [&](Arguments& a) { a.recv.displacements = displacements; },
      [](Arguments& a) { a.send = {}; },
      [&](Arguments& a) { a.neighbours.destinations = ranks; },
      [&](Arguments& a) { a.neighbours.sources = ranks; },
      [&](Arguments& a) { a.neighbours.order = ranks; },
      [](Arguments& a) { a.segment = 8192; },
      [](Arguments& a) { a.in_turn = true; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Arguments changed = blocked.arguments();
    changes[i](changed);
    EXPECT_EQ(table.find(algorithm, changed), nullptr) << "change " << i;
  }
}

// Arrays that meet at another place are other arrays: {1, 2} and {3} are not {1} and {2, 3}.
TEST(ScheduleTable, ArraysDoNotRunIntoEachOther) {
  ScheduleTable table(kRoom);
  const std::array<std::uint32_t, 3> ranks = {0, 0, 0};
  const Algorithm& algorithm = first(Operation::barrier);
  Arguments arguments{.ranks = 2, .neighbours = {std::span(ranks).first(1), std::span(ranks).first(2), {}}};
  keep(table, algorithm, arguments);
  std::swap(arguments.neighbours.destinations, arguments.neighbours.sources);
  EXPECT_EQ(table.find(algorithm, arguments), nullptr);
}

TEST(ScheduleTable, WhatWasNotUsedForLongestGoes) {
  constexpr std::size_t kMany = 1000;
  ScheduleTable table(kRoom / 16);
  const Algorithm& algorithm = first(Operation::bcast);
  const auto used = keep(table, algorithm, {.ranks = 2});
  const std::weak_ptr<const schedule::Schedule> unused = keep(table, algorithm, {.ranks = 2, .bytes = 1});
  const auto held = keep(table, algorithm, {.ranks = 2, .bytes = 2});
  for (std::uint64_t bytes = 3; bytes < kMany; ++bytes) {
    keep(table, algorithm, {.ranks = 2, .bytes = bytes});
    ASSERT_EQ(table.find(algorithm, {.ranks = 2}), used);
  }
  EXPECT_TRUE(unused.expired());
  EXPECT_EQ(table.find(algorithm, {.ranks = 2, .bytes = 2}), nullptr);
  EXPECT_EQ(schedule::to_text(*held), schedule::to_text(*algorithm.build({.ranks = 2, .bytes = 2})));
}

TEST(ScheduleTable, WhatWouldDriveOutTheOthersIsNotKept) {
  ScheduleTable table(kRoom / 16);
  const Arguments small{.ranks = 2};
  const Arguments large{.ranks = 1000, .bytes = 1};
  const auto kept = keep(table, first(Operation::barrier), small);
  EXPECT_NE(keep(table, first(Operation::alltoall), large), nullptr);
  EXPECT_EQ(table.find(first(Operation::alltoall), large), nullptr);
  EXPECT_EQ(table.find(first(Operation::barrier), small), kept);
}

// Four threads ask for the same hundred, for which there is not room at once: each gets what it asked for.
TEST(ScheduleTable, ThreadsShareIt) {
  constexpr std::uint64_t kShapes = 100;
  constexpr std::uint64_t kAsked = 2000;
  ScheduleTable table(kRoom / 32);
  const Algorithm& algorithm = first(Operation::bcast);
  std::array<std::uint64_t, 4> wrong{};
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kAsked; ++i) {
        const Arguments arguments{.ranks = 2, .bytes = 1 + (i * (2 * t + 1)) % kShapes};
        auto got = table.find(algorithm, arguments);
        if (got == nullptr) got = keep(table, algorithm, arguments);
        if (got->nodes().front().bytes != arguments.bytes) ++wrong[t];
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, decltype(wrong){});
}

}  // namespace
}  // namespace urakata::collectives::schedule_table_test
