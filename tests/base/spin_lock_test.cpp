// SPDX-License-Identifier: BSD-3-Clause
#include "base/spin_lock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace urakata {
namespace {

TEST(SpinLock, OneThreadAtATime) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 20'000;
  SpinLock lock;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const std::lock_guard guard(lock);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kTurns);
}

// Apart, since clang's analysis does not follow a lock through EXPECT_TRUE().
bool tried(SpinLock& lock) URAKATA_NOT_ANALYSED { return lock.try_lock(); }
void give_back(SpinLock& lock) URAKATA_NOT_ANALYSED { lock.unlock(); }

TEST(SpinLock, IsTriedInVainWhileItIsTaken) {
  for (const bool alone : {false, true}) {
    one_at_a_time = alone;
    SpinLock lock;
    EXPECT_TRUE(tried(lock));
    EXPECT_FALSE(tried(lock));
    give_back(lock);
    EXPECT_TRUE(tried(lock));
  }
  one_at_a_time = false;
}

}  // namespace
}  // namespace urakata
