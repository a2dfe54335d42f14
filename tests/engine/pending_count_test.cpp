// SPDX-License-Identifier: BSD-3-Clause
#include "engine/pending_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace urakata::engine {
namespace {

TEST(PendingCount, TheFurtherEntriesAreNoInstances) {
  PendingCount count;
  count.note_listening(true);
  count.note_flushing(true);
  EXPECT_EQ(count.all(), 2U);
  EXPECT_FALSE(count.unfinished());
  count.add({.all = 3, .silent = 1});
  EXPECT_EQ(count.all(), 5U);
  EXPECT_TRUE(count.unfinished());
  count.note_listening(false);
  count.remove({.all = 3, .silent = 1});
  EXPECT_EQ(count.all(), 1U);
  EXPECT_FALSE(count.unfinished());
  EXPECT_TRUE(count.network_only());
}

// An instance is pending all the time, while the owner adds and removes a further entry.
TEST(PendingCount, AnInstanceIsSeenWhileAFurtherEntryComesAndGoes) {
  PendingCount count;
  count.add({.all = 1});
  std::atomic<bool> over{false};
  std::thread owner([&] {
    for (int i = 0; i < 5'000'000; ++i) count.note_flushing(i % 2 == 0);
    over.store(true);
  });
  bool always = true;
  while (!over.load()) always = always && count.unfinished();
  owner.join();
  EXPECT_TRUE(always);
}

}  // namespace
}  // namespace urakata::engine
