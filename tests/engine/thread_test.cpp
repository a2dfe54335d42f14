// SPDX-License-Identifier: BSD-3-Clause
#include "engine/thread.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <deque>
#include <string>
#include <thread>

#include "base/waiting.hpp"
#include "cluster.hpp"
#include "engine/periodic_engine.hpp"
#include "engine/poll.hpp"

namespace urakata::simulated {
namespace {

using engine::Domain;
using engine::Engine;
using engine::Instance;
using engine::PeriodicEngine;
using engine::PollEngine;
using engine::ProgressThreadSettings;
using engine::ThreadEngine;
using schedule::kRecvBuffer;
using schedule::kSendBuffer;

void start(Engine& engine, transport::Group& group, Instance& instance) {
  prepare(group, instance);
  engine.start(instance);
}

// As a caller inside MPI_Wait: drives the domain itself.
void drive(Engine& engine, const Instance& instance) {
  engine.enter();
  while (!instance.finished()) {
    if (!engine.step()) std::this_thread::yield();
  }
  engine.leave();
}

// Two ranks of one thread: neither may wait for the other without driving it.
void drive_both(Engine& first, const Instance& of_first, Engine& second, const Instance& of_second) {
  while (!of_first.finished() || !of_second.finished()) {
    first.step();
    second.step();
  }
}

// As a blocking call.
void start_and_drive(Engine& engine, transport::Group& group, Instance& instance) {
  prepare(group, instance);
  engine.start_awaited(instance);
  while (!instance.finished()) {
    if (!engine.step()) std::this_thread::yield();
  }
  engine.leave();
}

// As a program that computes: nothing of the engine is called.
void look_on(const Instance& instance) {
  while (!instance.finished()) std::this_thread::yield();
}

ProgressThreadSettings settings(bool spare, std::uint64_t linger_ns = 0) {
  ProgressThreadSettings made;
  made.spare = spare;
  made.linger_ns = linger_ns;
  return made;
}

// A number goes from rank 0 to rank 1.
struct Exchange {
  schedule::Schedule schedules[2] = {one_message(0, 4), one_message(1, 4)};
  std::uint32_t from = 1;
  std::uint32_t to = 0;
  Instance sender{schedules[0]};
  Instance receiver{schedules[1]};

  Exchange() {
    sender.bind(kSendBuffer, reinterpret_cast<std::byte*>(&from));
    receiver.bind(kRecvBuffer, reinterpret_cast<std::byte*>(&to));
  }
};

class ProgressThreadTest : public testing::TestWithParam<bool> {
 protected:
  Network network{7};
  Domain domains[2] = {Domain(attach(network, 0)), Domain(attach(network, 1))};
  TestGroup groups[2] = {TestGroup(0, 2, 1), TestGroup(1, 2, 1)};
};
INSTANTIATE_TEST_SUITE_P(, ProgressThreadTest, testing::Bool(),
                         [](const auto& tested) { return std::string(tested.param ? "spare" : "shared"); });

// The progress thread goes to sleep as soon as nothing is pending, and starts come at any moment of that: none is
// missed.
TEST_P(ProgressThreadTest, IsWokenByEveryStart) {
  std::mt19937_64 random(11);
  ThreadEngine engine(domains[0], settings(GetParam()));
  TestGroup group(0, 1, 1);
  schedule::Builder builder("copy", 1, 0);
  builder.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer}, 4);
  const auto schedule = made(builder);
  Instance instance(schedule);
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  instance.bind(kSendBuffer, reinterpret_cast<std::byte*>(&from));
  instance.bind(kRecvBuffer, reinterpret_cast<std::byte*>(&to));
  for (from = 1; from <= 2000; ++from) {
    // Idle for anything between no time and longer than it takes to fall asleep.
    const auto idle = std::uniform_int_distribution<unsigned>(0, 1U << (random() % 15))(random);
    for (unsigned i = 0; i < idle; ++i) pause();
    start(engine, group, instance);
    look_on(instance);
    ASSERT_EQ(to, from);
  }
}

TEST_P(ProgressThreadTest, FinishesMessagesWhileTheProgramComputes) {
  ThreadEngine first(domains[0], settings(GetParam()));
  ThreadEngine second(domains[1], settings(GetParam(), 1'000'000'000));
  Exchange exchange;
  for (exchange.from = 1; exchange.from <= 100; ++exchange.from) {
    start(first, groups[0], exchange.sender);
    start(second, groups[1], exchange.receiver);
    look_on(exchange.sender);
    look_on(exchange.receiver);
    ASSERT_EQ(exchange.to, exchange.from);
  }
}

// No thread can be made, here since none has room for its stack: callers do the work, and nothing ends.
TEST_P(ProgressThreadTest, IsDoneWithoutWhereThereIsNone) {
  pthread_attr_t usual;
  pthread_attr_t impossible;
  pthread_getattr_default_np(&usual);
  pthread_getattr_default_np(&impossible);
  pthread_attr_setstacksize(&impossible, std::size_t{1} << 50U);
  ASSERT_EQ(pthread_setattr_default_np(&impossible), 0);
  ThreadEngine first(domains[0], settings(GetParam()));
  ThreadEngine second(domains[1], settings(GetParam()));
  pthread_setattr_default_np(&usual);
  Exchange exchange;
  start(first, groups[0], exchange.sender);
  start(second, groups[1], exchange.receiver);
  drive_both(first, exchange.sender, second, exchange.receiver);
  EXPECT_EQ(exchange.to, exchange.from);
  EXPECT_EQ(first.progress_cpu_ns(), 0U);
}

// The caller waits for a message that is long in coming: the progress thread keeps off the domain from before the start
// to the end.
TEST_P(ProgressThreadTest, StaysAwayWhileACallerWaits) {
  static std::atomic<int> steps;
  steps = 0;
  auto counting = settings(GetParam());
  counting.progressed = [](std::uint64_t, std::uint64_t) { ++steps; };
  ThreadEngine engine(domains[1], counting);
  PollEngine peer(domains[0]);
  Exchange exchange;
  network.hold(true);
  engine.enter();
  start(engine, groups[1], exchange.receiver);
  start(peer, groups[0], exchange.sender);
  // Long enough for the progress thread to have looked many times: some microseconds of its time each.
  const std::uint64_t used = engine.progress_cpu_ns();
  while (engine.progress_cpu_ns() - used < 200'000) {
    engine.step();
    std::this_thread::yield();
  }
  network.hold(false);
  drive_both(peer, exchange.sender, engine, exchange.receiver);
  EXPECT_EQ(steps, 0);
  engine.leave();
  EXPECT_EQ(exchange.to, 1U);
}

TEST_P(ProgressThreadTest, TakesOverWhatACallerLeaves) {
  ThreadEngine engine(domains[1], settings(GetParam()));
  PollEngine peer(domains[0]);
  Exchange exchange;
  for (exchange.from = 1; exchange.from <= 50; ++exchange.from) {
    engine.enter();
    start(engine, groups[1], exchange.receiver);
    for (std::uint32_t i = 0; i < exchange.from % 8; ++i) engine.step();
    engine.leave();
    start(peer, groups[0], exchange.sender);
    drive(peer, exchange.sender);
    look_on(exchange.receiver);
    ASSERT_EQ(exchange.to, exchange.from);
  }
}

TEST_P(ProgressThreadTest, DoesNotRunOperationsOfTheProgram) {
  static std::atomic<std::thread::id> runner;
  runner = std::thread::id();
  ThreadEngine engine(domains[0], settings(GetParam()));
  TestGroup group(0, 1, 1);
  schedule::Builder builder("user-defined", 1, 0);
  const auto first = builder.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer}, 4);
  builder.after(first, builder.reduce({.buffer = kSendBuffer}, {.buffer = kRecvBuffer}, 4, 4));
  const auto schedule = made(builder);
  reduce::Reducer reducer;
  reducer.size = reducer.extent = 4;
  reducer.callers_only = true;
  reducer.apply = [](const reduce::Reducer&, const void*, void*, std::uint64_t) {
    runner = std::this_thread::get_id();
  };
  std::vector<std::uint32_t> from{3};
  std::vector<std::uint32_t> to{0};
  Instance instance(schedule);
  instance.reducer = &reducer;
  instance.bind(kSendBuffer, address(from));
  instance.bind(kRecvBuffer, address(to));
  for (int round = 0; round < 50; ++round) {
    start(engine, group, instance);
    drive(engine, instance);
    ASSERT_EQ(runner.load(), std::this_thread::get_id());
  }
}

// A message is outstanding when the progress thread ends: callers get it.
TEST_P(ProgressThreadTest, LeavesTheRestToCallersWhenItIsStopped) {
  ThreadEngine engine(domains[1], settings(GetParam()));
  PollEngine peer(domains[0]);
  Exchange exchange;
  start(engine, groups[1], exchange.receiver);
  while (engine.progress_cpu_ns() == 0) std::this_thread::yield();
  const std::uint64_t used = engine.progress_cpu_ns();
  engine.stop();
  EXPECT_GE(engine.progress_cpu_ns(), used) << "the report asks when the progress thread is gone";
  start(peer, groups[0], exchange.sender);
  for (int i = 0; i < 100; ++i) peer.step();
  EXPECT_FALSE(exchange.receiver.finished());
  drive_both(peer, exchange.sender, engine, exchange.receiver);
  EXPECT_EQ(exchange.to, 1U);
  exchange.from = 2;
  start(engine, groups[1], exchange.receiver);
  start(peer, groups[0], exchange.sender);
  drive_both(peer, exchange.sender, engine, exchange.receiver);
  EXPECT_EQ(exchange.to, 2U);
  engine.stop();
}

// Stopped while it falls asleep, sleeps, works, and while a caller waits.
TEST_P(ProgressThreadTest, EndsInEveryState) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 100; ++round) {
    Exchange exchange;
    TestGroup group(1, 2, 2 + round);  // a number of its own: what was left behind is met by nobody
    ThreadEngine engine(domains[1], settings(GetParam(), round % 2 == 0 ? 0 : 1'000'000'000));
    if (round % 4 < 2) {
      start(engine, group, exchange.receiver);
      TestGroup other(0, 2, 2 + round);
      PollEngine peer(domains[0]);
      start(peer, other, exchange.sender);
      drive(peer, exchange.sender);
      if (round % 8 < 4) look_on(exchange.receiver);
    }
    engine.enter();
    const auto idle = std::uniform_int_distribution<unsigned>(0, 5000)(random);
    for (unsigned i = 0; i < idle; ++i) pause();
    if (round % 3 == 0) engine.leave();
    engine.stop();
    if (round % 4 < 2) {
      while (!exchange.receiver.finished()) engine.step();
    }
  }
}

TEST_P(ProgressThreadTest, GivesEveryAbandonedInstanceBackOnce) {
  constexpr int kOperations = 200;
  static std::atomic<int> given_back;
  given_back = 0;
  ThreadEngine engine(domains[1], settings(GetParam()));
  PollEngine peer(domains[0]);
  std::deque<Exchange> exchanges(kOperations);
  int abandoned = 0;
  for (Exchange& exchange : exchanges) {
    exchange.receiver.on_abandoned = [](Instance&) { given_back.fetch_add(1, std::memory_order_release); };
    start(engine, groups[1], exchange.receiver);
    start(peer, groups[0], exchange.sender);
    auto running = Instance::Outcome::running;
    if (exchange.receiver.outcome.compare_exchange_strong(running, Instance::Outcome::abandoned)) ++abandoned;
  }
  for (Exchange& exchange : exchanges) drive(peer, exchange.sender);
  while (given_back.load(std::memory_order_acquire) != abandoned || engine.domain().pending() != 0) {
    std::this_thread::yield();
  }
  engine.stop();
  EXPECT_EQ(given_back, abandoned);
  for (const Exchange& exchange : exchanges) EXPECT_EQ(exchange.to, 1U);
}

// Rank 1's blocking calls leave its progress thread as it was: what is started between them is finished while rank 1
// computes.
void mix_blocking_calls(Engine& first, transport::Group& of_first, Engine& second, transport::Group& of_second) {
  Exchange blocking;
  Exchange exchange;
  for (exchange.from = 1; exchange.from <= 30; ++exchange.from) {
    blocking.from = 2 * exchange.from;
    start(first, of_first, blocking.sender);
    start_and_drive(second, of_second, blocking.receiver);
    ASSERT_EQ(blocking.to, blocking.from);
    start(first, of_first, exchange.sender);
    start(second, of_second, exchange.receiver);
    look_on(exchange.sender);
    look_on(exchange.receiver);
    look_on(blocking.sender);
    ASSERT_EQ(exchange.to, exchange.from);
  }
}

TEST_P(ProgressThreadTest, IsAsBeforeAfterABlockingCall) {
  ThreadEngine first(domains[0], settings(GetParam()));
  ThreadEngine second(domains[1], settings(GetParam()));
  mix_blocking_calls(first, groups[0], second, groups[1]);
}

TEST(PeriodicProgress, IsAsBeforeAfterABlockingCall) {
  Network network(9);
  Domain domains[] = {Domain(attach(network, 0)), Domain(attach(network, 1))};
  TestGroup groups[] = {TestGroup(0, 2, 1), TestGroup(1, 2, 1)};
  PeriodicEngine first(domains[0]);
  PeriodicEngine second(domains[1]);
  mix_blocking_calls(first, groups[0], second, groups[1]);
}

// Engine `poll` with a progress thread of that kind: starts make a step, and what is pending moves though no caller
// comes back.
TEST(PeriodicProgress, MovesWhatIsPendingWhenNoCallerDoes) {
  Network network(9);
  Domain domains[] = {Domain(attach(network, 0)), Domain(attach(network, 1))};
  TestGroup groups[] = {TestGroup(0, 2, 1), TestGroup(1, 2, 1)};
  PeriodicEngine first(domains[0]);
  PeriodicEngine second(domains[1]);
  EXPECT_EQ(first.name(), "poll");
  Exchange exchange;
  for (exchange.from = 1; exchange.from <= 30; ++exchange.from) {
    start(first, groups[0], exchange.sender);
    start(second, groups[1], exchange.receiver);
    look_on(exchange.sender);
    look_on(exchange.receiver);
    ASSERT_EQ(exchange.to, exchange.from);
  }
}

TEST(Poll, PostsAtTheStartAndThenMovesInCallersOnly) {
  Network network(9);
  Domain domains[] = {Domain(attach(network, 0)), Domain(attach(network, 1))};
  TestGroup groups[] = {TestGroup(0, 2, 1), TestGroup(1, 2, 1)};
  PollEngine first(domains[0]);
  PollEngine second(domains[1]);
  Exchange exchange;
  start(second, groups[1], exchange.receiver);
  EXPECT_EQ(network.unmatched(), 1U);
  start(first, groups[0], exchange.sender);
  EXPECT_EQ(network.unmatched(), 0U);
  EXPECT_EQ(exchange.to, 0U);
  EXPECT_FALSE(exchange.receiver.finished());
  drive_both(first, exchange.sender, second, exchange.receiver);
  EXPECT_EQ(exchange.to, 1U);
}

TEST(Poll, AStepBesideAnotherOwnerDoesNothing) {
  Cluster cluster(1);
  PollEngine engine(cluster.domain(0));
  ASSERT_TRUE(cluster.domain(0).try_own());
  EXPECT_FALSE(engine.step());
  cluster.domain(0).disown();
}

// One rank of the crowd: its number decides which engine it has.
struct Process {
  static constexpr int kEngines = 4;

  Process(Network& network, int rank) : domain(attach(network, rank)) {
    ProgressThreadSettings progress_thread = settings(rank % kEngines == 1, rank % 2 == 0 ? 0 : 1'000'000);
    progress_thread.nap_ns = 50'000;
    if (rank % kEngines == 3) {
      engine = std::make_unique<PollEngine>(domain);
    } else if (rank % kEngines == 2) {
      engine = std::make_unique<PeriodicEngine>(domain);
    } else {
      engine = std::make_unique<ThreadEngine>(domain, progress_thread);
    }
  }
  Domain domain;
  std::unique_ptr<Engine> engine;
};

// Four ranks, each with another engine; in each, three threads have several gathers under way on two groups of their
// own, and wait for them in random order and compute.
TEST(Crowd, GathersOnManyGroupsFromManyThreads) {
  constexpr int kRanks = 4;
  constexpr int kThreads = 3;
  constexpr int kOperations = 60;
  Network network(13);
  std::vector<schedule::Schedule> schedules;
  std::vector<std::unique_ptr<Process>> processes;
  for (int r = 0; r < kRanks; ++r) {
    schedules.push_back(gather_ring(kRanks, r));
    processes.push_back(std::make_unique<Process>(network, r));
  }
  struct Run {
    explicit Run(const schedule::Schedule& schedule) : instance(schedule) {}
    Instance instance;
    std::vector<std::uint8_t> buffer = std::vector<std::uint8_t>(10, 0xee);
    std::vector<std::uint8_t> expected;
  };
  const auto member = [&](int r, int t) {
    Engine& engine = *processes[static_cast<std::size_t>(r)]->engine;
    TestGroup groups[] = {TestGroup(r, kRanks, 2 * t + 1), TestGroup(r, kRanks, 2 * t + 2)};
    std::mt19937_64 random(static_cast<std::uint64_t>(r * kThreads + t));
    std::deque<Run> runs;
    std::vector<Run*> outstanding;
    for (int operation = 0; operation < kOperations; ++operation) {
      Run& run = runs.emplace_back(schedules[static_cast<std::size_t>(r)]);
      for (int of = 0; of < kRanks; ++of) {
        const auto value = static_cast<std::uint8_t>(operation * 12 + t * 4 + of);
        for (int i = 0; i <= of; ++i) run.expected.push_back(value);
        if (of == r) std::copy(run.expected.end() - of - 1, run.expected.end(), run.buffer.begin() + of * (of + 1) / 2);
      }
      run.instance.bind(kRecvBuffer, address(run.buffer));
      start(engine, groups[operation % 2], run.instance);
      outstanding.push_back(&run);
      while (outstanding.size() > random() % 6) {
        std::swap(outstanding[random() % outstanding.size()], outstanding.back());
        drive(engine, outstanding.back()->instance);
        outstanding.pop_back();
      }
      for (std::uint64_t i = random() % 2000; i != 0; --i) pause();
    }
    for (Run* run : outstanding) drive(engine, run->instance);
    for (const Run& run : runs) {
      EXPECT_EQ(run.instance.error, 0);
      EXPECT_EQ(run.buffer, run.expected);
    }
    EXPECT_TRUE(groups[0].idle() && groups[1].idle());
  };
  std::vector<std::thread> threads;
  for (int r = 0; r < kRanks; ++r) {
    for (int t = 0; t < kThreads; ++t) threads.emplace_back(member, r, t);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(network.unmatched(), 0U);
}

}  // namespace
}  // namespace urakata::simulated
