// SPDX-License-Identifier: BSD-3-Clause
#include "job/bootstrap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "meeting.hpp"

namespace urakata::job::bootstrap_test {
namespace {

// Rank r gives 10 r: everybody has 0 10 20 30.
TEST(Bootstrap, GathersWhatEachRankGives) {
  simulated::Meeting(4).run([](Bootstrap& all) {
    EXPECT_EQ(all.gathered(static_cast<int>(10 * all.rank())), (std::vector{0, 10, 20, 30}));
  });
}

TEST(Bootstrap, BroadcastsFromTheRootAndPassesABarrier) {
  std::atomic<int> before{0};
  simulated::Meeting(3).run([&](Bootstrap& all) {
    std::array word{static_cast<std::byte>(all.rank())};
    EXPECT_TRUE(all.broadcast(word, 2));
    EXPECT_EQ(word[0], std::byte{2});
    for (int time = 1; time <= 2; ++time) {
      before.fetch_add(1);
      ASSERT_TRUE(all.begin_barrier());
      while (!all.barrier_passed()) std::this_thread::yield();
      EXPECT_GE(before.load(), 3 * time);
    }
    before.fetch_add(1);
    all.meet(std::this_thread::yield);
    EXPECT_EQ(before.load(), 9);
  });
}

}  // namespace
}  // namespace urakata::job::bootstrap_test
