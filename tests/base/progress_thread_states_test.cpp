// SPDX-License-Identifier: BSD-3-Clause
#include "base/progress_thread_states.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace urakata {
namespace {

constexpr std::uint64_t kForEver = 3'600'000'000'000;  // ns: an hour

// A progress thread that works off what three threads count up, and sleeps without a limit when there is nothing: a
// start that it missed would leave it asleep.
TEST(ProgressThreadStates, NoStartIsMissed) {
  constexpr int kThreads = 3;
  constexpr int kStarts = 20'000;
  ProgressThreadStates states;
  std::atomic<int> pending{0};
  int done = 0;
  std::thread progress_thread([&] {
    while (done < kThreads * kStarts) {
      const int taken = pending.exchange(0);
      done += taken;
      if (taken == 0) states.sleep([&] { return pending.load() == 0; });
    }
  });
  std::vector<std::thread> starters;
  for (int i = 0; i < kThreads; ++i) {
    starters.emplace_back([&] {
      for (int start = 0; start < kStarts; ++start) {
        pending.fetch_add(1);
        if (states.present() == ProgressThreadStates::kAsleep) states.wake(ProgressThreadStates::kAsleep);
      }
    });
  }
  for (std::thread& starter : starters) starter.join();
  progress_thread.join();
  EXPECT_EQ(done, kThreads * kStarts);
}

TEST(ProgressThreadStates, AStopEndsEveryRestAndNoneBegins) {
  for (int rest = 0; rest < 3; ++rest) {
    ProgressThreadStates states;
    std::thread progress_thread([&] {
      if (rest == 0) states.doze(kForEver);
      if (rest == 1) states.sleep([] { return true; });
      if (rest == 2) states.nap(kForEver);
    });
    const auto expected = rest == 0   ? ProgressThreadStates::kDozing
                          : rest == 1 ? ProgressThreadStates::kAsleep
                                      : ProgressThreadStates::kWorking;
    while (states.present() != expected) std::this_thread::yield();
    EXPECT_EQ(states.stop(), expected);
    progress_thread.join();
    EXPECT_TRUE(states.stopping());
    states.doze(kForEver);
    states.sleep([] { return true; });
    states.nap(kForEver);
    EXPECT_FALSE(states.rests(ProgressThreadStates::kListening));
    EXPECT_TRUE(states.stopping());
  }
}

TEST(ProgressThreadStates, OnlyTheRestThatWasSeenIsEnded) {
  ProgressThreadStates states;
  EXPECT_FALSE(states.wake(ProgressThreadStates::kDozing));
  ASSERT_TRUE(states.rests(ProgressThreadStates::kListening));
  EXPECT_FALSE(states.wake(ProgressThreadStates::kDozing));
  EXPECT_EQ(states.present(), ProgressThreadStates::kListening);
  EXPECT_TRUE(states.wake(ProgressThreadStates::kListening));
  EXPECT_EQ(states.present(), ProgressThreadStates::kWorking);
  states.back(ProgressThreadStates::kListening);  // which is over already
  EXPECT_EQ(states.present(), ProgressThreadStates::kWorking);
}

TEST(ProgressThreadStates, ADozeEndsByItselfAndByAWake) {
  ProgressThreadStates states;
  for (const auto how : {ProgressThreadStates::kDozing, ProgressThreadStates::kResting}) {
    EXPECT_FALSE(states.doze(1, how));
    EXPECT_EQ(states.present(), ProgressThreadStates::kWorking);
    std::thread progress_thread([&] { EXPECT_TRUE(states.doze(kForEver, how)); });
    while (!states.wake(how)) std::this_thread::yield();
    progress_thread.join();
    EXPECT_EQ(states.present(), ProgressThreadStates::kWorking);
  }
}

TEST(ProgressThreadStates, NobodySleepsOverWhatIsThere) {
  ProgressThreadStates states;
  states.sleep([] { return false; });
  EXPECT_EQ(states.present(), ProgressThreadStates::kWorking);
}

}  // namespace
}  // namespace urakata
