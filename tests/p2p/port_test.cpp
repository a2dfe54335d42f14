// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/port.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

namespace urakata::p2p::port_test {
namespace {

// Three threads of a rank sleep, one of them in short naps; all return after one wake(). Hangs where one does not.
TEST(Port, WakesAllWhoSleep) {
  for (int round = 0; round < 50; ++round) {
    const auto port = std::make_unique<Port>();
    std::atomic<bool> come{false};
    std::atomic<int> polls{0};
    const auto sleep = [&](std::uint64_t ns) {
      while (!come.load()) {
        port->sleep(ns, [&] {
          ++polls;
          return come.load();
        });
      }
    };
    std::array<std::thread, 3> threads{std::thread(sleep, kForever), std::thread(sleep, kForever),
                                       std::thread(sleep, 20'000)};
    while (polls.load() < 10) std::this_thread::yield();  // all are likely to be asleep, and one to have been
    come.store(true);
    port->wake();
    for (std::thread& thread : threads) thread.join();
  }
}

// A rank that naps 20 times while nobody wakes it has all cores fenced once, and once more after each wake.
TEST(Port, FencesOnceForAllNapsUntilSomebodyWakes) {
  if (!fence_all_threads()) GTEST_SKIP() << "this kernel has no membarrier()";
  const auto port = std::make_unique<Port>();
  const auto nap = [&] { port->sleep(1, [] { return false; }); };
  std::uint64_t before = fences();
  for (int i = 0; i < 20; ++i) nap();
  EXPECT_EQ(fences() - before, 1U);
  port->wake();
  port->wake();
  before = fences();
  for (int i = 0; i < 20; ++i) nap();
  EXPECT_EQ(fences() - before, 1U);
}

}  // namespace
}  // namespace urakata::p2p::port_test
