// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/caller_lock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

namespace urakata::p2p::caller_lock_test {
namespace {

constexpr int kTurns = 200'000;

// Not atomic: it is right only if its holders exclude each other.
struct Counted {
  explicit Counted(Callers callers) : lock(callers) {}
  CallerLock lock;
  long count = 0;
};

class WithAProgressThread : public testing::TestWithParam<Callers> {};

TEST_P(WithAProgressThread, OneThreadOfTheProgramAndItExcludeEachOther) {
  Counted counted(GetParam());
  std::atomic<bool> over{false};
  long helped = 0;
  std::thread progress_thread([&] {
    on_progress_thread = true;
    while (!over.load(std::memory_order_relaxed) || helped == 0) {
      if (!counted.lock.try_lock()) continue;
      for (int i = 0; i < 100; ++i) counted.count = counted.count + 1;
      counted.lock.unlock();
      helped += 100;
    }
  });
  for (int i = 0; i < kTurns; ++i) {
    const std::lock_guard guard(counted.lock);
    counted.count = counted.count + 1;
  }
  over.store(true, std::memory_order_relaxed);
  progress_thread.join();
  EXPECT_EQ(counted.count, kTurns + helped);
}

INSTANTIATE_TEST_SUITE_P(CallerLock, WithAProgressThread,
                         testing::Values(Callers::one_and_progress_thread, Callers::one_and_often), [](const auto& of) {
                           return of.param == Callers::one_and_progress_thread ? "seldom" : "often";
                         });

TEST(CallerLock, OfManyThreads) {
  Counted counted(Callers::many);
  const auto work = [&] {
    for (int i = 0; i < kTurns; ++i) {
      const std::lock_guard guard(counted.lock);
      counted.count = counted.count + 1;
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(counted.count, 2 * kTurns);
}

}  // namespace
}  // namespace urakata::p2p::caller_lock_test
