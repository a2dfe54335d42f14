// SPDX-License-Identifier: BSD-3-Clause
// Three times there is more to do: the thread polls a fourth time once it has said that it is idle, and again when it
// is expected to.
#include "base/periodic_progress.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace urakata {
namespace {

// Hangs where the thread does not poll.
TEST(PeriodicProgress, PollsWhileThereIsMore) {
  std::atomic<int> polls{0};
  PeriodicProgress periodic("test", "tests", [&] { return ++polls < 3; });
  EXPECT_EQ(polls.load(), 0);
  periodic.expect();
  while (polls.load() < 4) std::this_thread::yield();
  periodic.expect();
  while (polls.load() < 5) std::this_thread::yield();
}

// Each of 1000 things left behind is seen, wherever in its loop the thread is when it is left. Hangs where one is not.
TEST(PeriodicProgress, MissesNothing) {
  std::atomic<int> left{0};
  PeriodicProgress periodic(
      "test", "tests", [&] { return left.exchange(0) > 1; }, [](std::uint64_t) { return true; });
  for (int i = 1; i <= 1000; ++i) {
    left.store(1 + i % 2);
    periodic.expect();
    while (left.load() != 0) std::this_thread::yield();
  }
}

TEST(PeriodicProgress, SleepsAsItIsToldAndRunsOnAThreadOfOurs) {
  std::atomic<int> sleeps{0};
  std::atomic<bool> ours{false};
  PeriodicProgress periodic(
      "test", "tests",
      [&] {
        ours = on_progress_thread;
        return true;
      },
      [&](std::uint64_t ns) { return ns != 0 && ++sleeps != 0; });
  periodic.expect();
  while (sleeps.load() < 10 || !ours.load()) std::this_thread::yield();
  periodic.stop();
  const int at_the_end = sleeps.load();
  EXPECT_GT(periodic.cpu_ns(), 0U);
  periodic.expect();
  EXPECT_EQ(sleeps.load(), at_the_end);
  EXPECT_FALSE(on_progress_thread);
}

}  // namespace
}  // namespace urakata
