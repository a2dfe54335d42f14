// SPDX-License-Identifier: BSD-3-Clause
#include "transport/group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace urakata::transport::group_test {
namespace {

// Operations 0 .. 255 are in; 256 has the tag of 0 and waits for it, whichever of the others is finished before.
TEST(Group, LetsIn256OperationsAtOnce) {
  Group group;
  EXPECT_TRUE(group.admit(0));
  EXPECT_TRUE(group.admit(255));
  EXPECT_FALSE(group.admit(256));
  for (std::uint64_t sequence = 1; sequence < 256; ++sequence) group.retire(sequence);
  EXPECT_FALSE(group.admit(256));
  group.retire(0);
  EXPECT_TRUE(group.admit(256 + 255));
  EXPECT_FALSE(group.admit(256 + 256));
}

TEST(Group, TheWindowMovesWithOperationsThatFinishInAnyOrder) {
  Group group;
  std::mt19937_64 random(1);
  std::uint64_t next = 0;
  std::vector<std::uint64_t> active;
  std::set<std::uint64_t> unfinished;
  for (int step = 0; step < 20'000; ++step) {
    if (group.admit(next)) {
      unfinished.insert(next);
      active.push_back(next++);
      ASSERT_LT(active.back() - *unfinished.begin(), Group::kActive) << "two active operations share a tag";
    } else {
      ASSERT_EQ(next - *unfinished.begin(), Group::kActive) << "held back for no reason";
    }
    if (step % 3 != 0 || !group.admit(next)) {
      std::swap(active[std::uniform_int_distribution<std::size_t>(0, active.size() - 1)(random)], active.back());
      group.retire(active.back());
      unfinished.erase(active.back());
      active.pop_back();
      if (active.empty()) {
        active.push_back(next++);
        unfinished.insert(active.back());
      }
    }
  }
}

TEST(Group, IsIdleWhenAllThatStartedIsFinished) {
  Group group;
  EXPECT_TRUE(group.idle());
  const auto first = group.next_sequence.fetch_add(1);
  const auto second = group.next_sequence.fetch_add(1);
  group.retire(second);
  EXPECT_FALSE(group.idle());
  group.retire(first);
  EXPECT_TRUE(group.idle());
}

// Rank 0 calls the group 3 and rank 1 calls it 9: what goes to rank 1 bears a 9, what comes from anybody bears a 3.
TEST(Group, TagsBearTheReceiversNumber) {
  Group sender;
  sender.ranks = 2;
  sender.context = 3;
  sender.contexts = {3, 9};
  Group receiver;
  receiver.ranks = 2;
  receiver.rank = 1;
  receiver.context = 9;
  receiver.contexts = {3, 9};
  EXPECT_EQ(sender.tag_to(1, 5, 2), receiver.tag_from(5, 2));
  EXPECT_EQ(sender.tag_to(1, 5, 2), 9 << 16 | 5 << 8 | 2);
  EXPECT_EQ(receiver.tag_to(0, 256 + 5, 255), sender.tag_from(5, 255));
}

TEST(Group, TagsOfActiveOperationsAndChannelsDiffer) {
  Group group;
  group.context = 1;
  std::set<std::int32_t> tags;
  for (std::uint64_t sequence = 1000; sequence < 1000 + Group::kActive; ++sequence) {
    for (const int channel : {0, 1, 254, 255})
      tags.insert(group.tag_from(sequence, static_cast<std::uint8_t>(channel)));
  }
  EXPECT_EQ(tags.size(), Group::kActive * 4);
  group.context = 2;
  EXPECT_GT(group.tag_from(0, 0), *tags.rbegin());
}

}  // namespace
}  // namespace urakata::transport::group_test
