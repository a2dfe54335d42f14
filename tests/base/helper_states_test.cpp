// SPDX-License-Identifier: BSD-3-Clause
#include "base/helper_states.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace urakata {
namespace {

constexpr std::uint64_t kForEver = 3'600'000'000'000;  // ns: an hour

// A helper that works off what three threads count up, and sleeps without a limit when there is nothing: a start that it
// missed would leave it asleep.
TEST(HelperStates, NoStartIsMissed) {
  constexpr int kThreads = 3;
  constexpr int kStarts = 20'000;
  HelperStates states;
  std::atomic<int> pending{0};
  int done = 0;
  std::thread helper([&] {
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
        if (states.present() == HelperStates::kAsleep) states.wake(HelperStates::kAsleep);
      }
    });
  }
  for (std::thread& starter : starters) starter.join();
  helper.join();
  EXPECT_EQ(done, kThreads * kStarts);
}

TEST(HelperStates, AStopEndsEveryRestAndNoneBegins) {
  for (int rest = 0; rest < 3; ++rest) {
    HelperStates states;
    std::thread helper([&] {
      if (rest == 0) states.doze(kForEver);
      if (rest == 1) states.sleep([] { return true; });
      if (rest == 2) states.nap(kForEver);
    });
    const auto expected = rest == 0   ? HelperStates::kDozing
                          : rest == 1 ? HelperStates::kAsleep
                                      : HelperStates::kWorking;
    while (states.present() != expected) std::this_thread::yield();
    EXPECT_EQ(states.stop(), expected);
    helper.join();
    EXPECT_TRUE(states.stopping());
    states.doze(kForEver);
    states.sleep([] { return true; });
    states.nap(kForEver);
    EXPECT_FALSE(states.rests(HelperStates::kListening));
    EXPECT_TRUE(states.stopping());
  }
}

TEST(HelperStates, OnlyTheRestThatWasSeenIsEnded) {
  HelperStates states;
  EXPECT_FALSE(states.wake(HelperStates::kDozing));
  ASSERT_TRUE(states.rests(HelperStates::kListening));
  EXPECT_FALSE(states.wake(HelperStates::kDozing));
  EXPECT_EQ(states.present(), HelperStates::kListening);
  EXPECT_TRUE(states.wake(HelperStates::kListening));
  EXPECT_EQ(states.present(), HelperStates::kWorking);
  states.back(HelperStates::kListening);  // which is over already
  EXPECT_EQ(states.present(), HelperStates::kWorking);
}

TEST(HelperStates, ADozeEndsByItselfAndByAWake) {
  HelperStates states;
  for (const auto how : {HelperStates::kDozing, HelperStates::kResting}) {
    EXPECT_FALSE(states.doze(1, how));
    EXPECT_EQ(states.present(), HelperStates::kWorking);
    std::thread helper([&] { EXPECT_TRUE(states.doze(kForEver, how)); });
    while (!states.wake(how)) std::this_thread::yield();
    helper.join();
    EXPECT_EQ(states.present(), HelperStates::kWorking);
  }
}

TEST(HelperStates, NobodySleepsOverWhatIsThere) {
  HelperStates states;
  states.sleep([] { return false; });
  EXPECT_EQ(states.present(), HelperStates::kWorking);
}

}  // namespace
}  // namespace urakata
