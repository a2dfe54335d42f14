#include "base/waiting.hpp"

#include <gtest/gtest.h>

#include <thread>

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

TEST(Futex, WakesTheSleeper) {
  std::atomic<std::uint32_t> word{0};
  std::thread sleeper([&] {
    while (word.load(std::memory_order_acquire) == 0) futex_wait(word, 0);
  });
  word.store(1, std::memory_order_release);
  futex_wake(word);
  sleeper.join();
}

TEST(Ladder, LetsTheOtherThreadRunWithAndWithoutSpinning) {
  for (const bool oversubscribed : {false, true}) {
    std::atomic<bool> done{false};
    std::thread other([&] { done.store(true, std::memory_order_release); });
    Ladder ladder(oversubscribed);
    while (!done.load(std::memory_order_acquire)) ladder.step();
    other.join();
  }
}

}  // namespace
}  // namespace urakata
