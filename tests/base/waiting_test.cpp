// SPDX-License-Identifier: BSD-3-Clause
#include "base/waiting.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace {
thread_local unsigned yields = 0;
}  // namespace

// In the C library's place: counts as well.
extern "C" int sched_yield() noexcept {
  ++yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

namespace urakata {
namespace {

TEST(Futex, DoesNotSleepOnAnotherValue) {
  const std::atomic<std::uint32_t> word{1};
  EXPECT_TRUE(futex_wait(word, 0));
}

TEST(Futex, SaysWhenTheTimeRanOut) {
  const std::atomic<std::uint32_t> word{1};
  EXPECT_FALSE(futex_wait(word, 1, 1000));
}

// Two threads take turns: 0, 1, 2, ... A wake that is lost leaves both asleep for ever.
TEST(Futex, WakesTheSleeperTimeAndAgain) {
  constexpr std::uint32_t kTurns = 20000;
  std::atomic<std::uint32_t> turn{0};
  const auto play = [&](std::uint32_t first) {
    for (std::uint32_t mine = first; mine < kTurns; mine += 2) {
      for (std::uint32_t seen = turn.load(std::memory_order_acquire); seen != mine;
           seen = turn.load(std::memory_order_acquire)) {
        futex_wait(turn, seen);
      }
      turn.store(mine + 1, std::memory_order_release);
      futex_wake(turn);
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn.load(), kTurns);
}

// How often the ladder gave the core away in so many steps.
unsigned yields_in(Ladder& ladder, unsigned steps) {
  yields = 0;
  for (unsigned step = 0; step < steps; ++step) ladder.step();
  return yields;
}

TEST(Ladder, SpinsFirstAndThenYieldsAtEveryStepUntilItIsRestarted) {
  Ladder ladder(false);
  for (int wait = 0; wait < 2; ++wait) {
    EXPECT_EQ(yields_in(ladder, Ladder::kSpins), 0U);
    EXPECT_EQ(yields_in(ladder, 5), 5U);
    ladder.restart();
  }
}

TEST(Ladder, YieldsAtOnceWhereCoresAreFewerThanThreads) {
  Ladder ladder(true);
  EXPECT_EQ(yields_in(ladder, 5), 5U);
  ladder.restart();
  EXPECT_EQ(yields_in(ladder, 5), 5U);
}

}  // namespace
}  // namespace urakata
