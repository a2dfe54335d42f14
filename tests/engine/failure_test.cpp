// SPDX-License-Identifier: BSD-3-Clause
// Operations that fail: every rank gets an error, and nothing touches its buffers afterwards.
#include <gtest/gtest.h>

#include "cluster.hpp"
#include "engine/domain.hpp"

namespace urakata::simulated {
namespace {

using engine::Instance;
using schedule::kRecvBuffer;

constexpr int kBroken = 23;

// All ranks gather around a ring.
struct Rings {
  explicit Rings(int ranks) {
    for (int r = 0; r < ranks; ++r) schedules.push_back(gather_ring(ranks, r));
    for (int r = 0; r < ranks; ++r) {
      const auto at = static_cast<std::size_t>(r);
      buffers.emplace_back(static_cast<std::size_t>(ranks * (ranks + 1) / 2), std::uint8_t{1});
      instances.push_back(std::make_unique<Instance>(schedules[at]));
      instances[at]->bind(kRecvBuffer, address(buffers[at]));
    }
  }
  void start(Cluster& cluster) {
    for (int r = 0; r < cluster.ranks(); ++r) cluster.start(r, *instances[static_cast<std::size_t>(r)]);
  }

  std::vector<schedule::Schedule> schedules;
  std::vector<std::vector<std::uint8_t>> buffers;
  std::vector<std::unique_ptr<Instance>> instances;
};

// The link between 0 and 1 breaks at any moment, and each of the two notices once it waits for the other. What is not
// over by then ends, also on ranks that have no part in the link, and the buffers stay as they are from then on.
// Whatever is started on the group later ends with an error, and once all ranks know, nothing is posted any more.
TEST(Failure, WhereOneLinkBreaksEveryRankGetsAnError) {
  for (const int ranks : {2, 3, 6}) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE("ranks " + std::to_string(ranks) + " seed " + std::to_string(seed));
      Cluster cluster(ranks, seed);
      Rings first(ranks);
      Rings second(ranks);
      first.start(cluster);
      second.start(cluster);
      for (std::uint64_t i = 0; i < seed / 4; ++i) cluster.step();
      cluster.network().break_link(1, 0, kBroken);
      cluster.network().break_link(0, 1, kBroken);
      ASSERT_TRUE(cluster.settle());
      std::vector<std::vector<std::uint8_t>> left;
      for (Rings* rings : {&first, &second}) {
        for (auto& buffer : rings->buffers) {
          std::fill(buffer.begin(), buffer.end(), std::uint8_t{0xee});
          left.push_back(buffer);
        }
      }
      Rings later(ranks);
      std::uint64_t before = 0;
      for (int start = 0; start < 2; ++start) {
        before = cluster.network().messages();
        later.start(cluster);
        ASSERT_TRUE(cluster.settle());
        for (const auto& instance : later.instances) EXPECT_NE(instance->error, 0);
      }
      EXPECT_EQ(cluster.network().messages(), before) << "posted on a group that has failed";
      for (int i = 0; i < 1000; ++i) cluster.step();
      left.insert(left.end(), later.buffers.begin(), later.buffers.end());
      std::size_t at = 0;
      for (const Rings* rings : {&first, &second, &later}) {
        for (const auto& buffer : rings->buffers) ASSERT_EQ(buffer, left[at++]) << "written after the end";
      }
    }
  }
}

// Rank 1 waits for rank 0, which has started nothing, and for a word of rank 2, whose operation fails. Another group of
// the same ranks is not concerned.
TEST(Failure, OneGroupsFailureIsNotAnothers) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Cluster cluster(3, seed);
    cluster.group(2).error = kBroken;
    std::vector<std::unique_ptr<TestGroup>> others;
    Rings failing(3);
    Rings fine(3);
    for (int r = 0; r < 3; ++r) {
      const auto at = static_cast<std::size_t>(r);
      others.push_back(std::make_unique<TestGroup>(r, 3, 2));
      std::fill_n(fine.buffers[at].begin() + r * (r + 1) / 2, r + 1, static_cast<std::uint8_t>(r));
      submit(cluster.domain(r), *others[at], *fine.instances[at]);
      if (r != 0) cluster.start(r, *failing.instances[at]);
    }
    for (int i = 0; i < Cluster::kSteps && !(failing.instances[1]->finished() && fine.instances[1]->finished()); ++i) {
      cluster.step();
    }
    cluster.start(0, *failing.instances[0]);
    ASSERT_TRUE(cluster.settle());
    for (const auto& instance : failing.instances) EXPECT_NE(instance->error, 0);
    for (const auto& instance : fine.instances) EXPECT_EQ(instance->error, 0);
    for (const auto& buffer : fine.buffers) EXPECT_EQ(buffer, (std::vector<std::uint8_t>{0, 1, 1, 2, 2, 2}));
  }
}

// Rank 1 cannot start its part: it ends with that error, and everybody's ends with one, as do more operations after it
// than may be active at once.
TEST(Failure, WhatOneRankCannotStartEndsOnAll) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Cluster cluster(3, seed);
    std::vector<std::unique_ptr<Rings>> all;
    for (std::uint64_t i = 0; i <= transport::Group::kActive; ++i) {
      all.push_back(std::make_unique<Rings>(3));
      for (int r = 0; r < 3; ++r) {
        Instance& instance = *all.back()->instances[static_cast<std::size_t>(r)];
        prepare(cluster.group(r), instance);
        if (i == 0 && r == 1) instance.error = kBroken;
        cluster.domain(r).submit(instance);
      }
    }
    ASSERT_TRUE(cluster.settle());
    EXPECT_EQ(all[0]->instances[1]->error, kBroken);
    for (const auto& rings : all) {
      for (const auto& instance : rings->instances) EXPECT_NE(instance->error, 0);
    }
    for (int r = 0; r < 3; ++r) EXPECT_TRUE(cluster.group(r).idle());
  }
}

// Rank 1 cannot start its part and has nothing else to do. What was sent to it, and waits for a receive, ends at once
// all the same: it takes it away when it is told.
TEST(Failure, WhatWasSentToARankThatCannotStartIsTakenAway) {
  constexpr std::uint64_t kAnHour = 3'600'000'000'000;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Cluster cluster(3, seed, kAnHour);
    Rings rings(3);
    schedule::Builder nothing("nothing", 3, 1, 0);
    const schedule::Schedule none = made(nothing);
    Instance failed(none);
    prepare(cluster.group(1), failed);
    failed.error = kBroken;
    failed.tells_all = true;
    const std::uint64_t when = seed % 4;  // how long after the others
    for (std::uint64_t i = 0; i <= 3; ++i) {
      if (i == when) cluster.domain(1).submit(failed);
      if (i == 1) cluster.start(0, *rings.instances[0]);
      if (i == 2) cluster.start(2, *rings.instances[2]);
      for (std::uint64_t steps = 0; steps < seed; ++steps) cluster.step();
    }
    ASSERT_TRUE(cluster.settle());
    for (const int r : {0, 2}) EXPECT_NE(rings.instances[static_cast<std::size_t>(r)]->error, 0);
    EXPECT_TRUE(cluster.domain(1).pending() != 0 && !cluster.domain(1).unfinished());  // others may tell of more
  }
}

// A notice that names this group's number here and an earlier one there is about a group that is gone.
TEST(Failure, ALateNoticeOfAnotherGroupDoesNothing) {
  Cluster cluster(3);
  Rings rings(3);
  for (int r = 0; r < 3; ++r) {
    auto& group = cluster.group(r);
    const int teller = (r + 1) % 3;
    const int number = group.contexts[static_cast<std::size_t>(teller)];
    cluster.network().failures(r).add({.from = teller, .origin = number + 1, .context = group.context});
    cluster.network().failures(r).add({.from = 5, .origin = number, .context = group.context});
  }
  rings.start(cluster);
  ASSERT_TRUE(cluster.settle());
  for (const auto& instance : rings.instances) EXPECT_EQ(instance->error, 0);
}

}  // namespace
}  // namespace urakata::simulated
