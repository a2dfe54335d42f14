// SPDX-License-Identifier: BSD-3-Clause
#include "engine/domain.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "cluster.hpp"

namespace urakata::simulated {
namespace {

using engine::Instance;
using schedule::kRecvBuffer;
using schedule::kSendBuffer;

// Operations that each carry one number from rank 0 to rank 1.
class Numbers {
 public:
  explicit Numbers(std::uint32_t count) : from_(count), to_(count, ~0U) {
    std::iota(from_.begin(), from_.end(), 0U);
    for (std::uint32_t i = 0; i < count; ++i) {
      senders_.push_back(std::make_unique<Instance>(schedules_[0]));
      senders_.back()->bind(kSendBuffer, reinterpret_cast<std::byte*>(&from_[i]));
      receivers_.push_back(std::make_unique<Instance>(schedules_[1]));
      receivers_.back()->bind(kRecvBuffer, reinterpret_cast<std::byte*>(&to_[i]));
    }
  }
  Instance& sender(std::size_t i) { return *senders_[i]; }
  Instance& receiver(std::size_t i) { return *receivers_[i]; }
  bool arrived() const { return to_ == from_; }

 private:
  schedule::Schedule schedules_[2] = {one_message(0, 4), one_message(1, 4)};
  std::vector<std::uint32_t> from_;
  std::vector<std::uint32_t> to_;
  std::vector<std::unique_ptr<Instance>> senders_;
  std::vector<std::unique_ptr<Instance>> receivers_;
};

TEST(Domain, HasOneOwnerAtATime) {
  Cluster cluster(1);
  auto& domain = cluster.domain(0);
  EXPECT_TRUE(domain.try_own());
  EXPECT_FALSE(domain.try_own());
  domain.disown();
  EXPECT_TRUE(domain.try_own());
}

// The network, of which a test says whether it may have to send again what has finished.
class Flushing final : public transport::Transport {
 public:
  explicit Flushing(std::unique_ptr<transport::Transport> of) : of_(std::move(of)) {}
  bool open = false;

  int send(const transport::Message& message, transport::Ticket ticket, bool* finished) override {
    return of_->send(message, ticket, finished);
  }
  int recv(const transport::Message& message, transport::Ticket ticket, bool* finished) override {
    return of_->recv(message, ticket, finished);
  }
  std::span<const transport::Completion> poll() override { return of_->poll(); }
  std::size_t in_flight() const override { return of_->in_flight(); }
  std::size_t cancel(const void* instance) override { return of_->cancel(instance); }
  void tell(std::int32_t peer, const transport::Notice& notice) override { of_->tell(peer, notice); }
  const transport::Failures& failures() const override { return of_->failures(); }
  bool flushing() override { return open; }

 private:
  std::unique_ptr<transport::Transport> of_;
};

// Whose packing calls the MPI library moves by callers only, and what is beside it waits for these, too.
TEST(Domain, ProgressThreadsMoveNothingWhereCallersOnlyMay) {
  Cluster cluster(2);
  Numbers numbers(2);
  numbers.receiver(0).callers_only = true;
  for (std::size_t i = 0; i < 2; ++i) {
    cluster.start(0, numbers.sender(i));
    cluster.start(1, numbers.receiver(i));
  }
  for (int step = 0; step < 100; ++step) {
    cluster.domain(0).advance(false);
    EXPECT_EQ(cluster.domain(1).advance(false), 0U);
  }
  EXPECT_EQ(cluster.domain(1).pending(), 2U);
  while (numbers.receiver(0).outcome.load() == Instance::Outcome::running) cluster.domain(1).advance(true);
  ASSERT_TRUE(cluster.settle(false));
  EXPECT_TRUE(numbers.arrived());
}

// A lane that is lost then gives its bytes to others only where somebody polls.
TEST(Domain, IsPendingWhileWhatHasFinishedMayHaveToGoAgain) {
  Network network(1);
  TestGroup groups[2] = {{0, 2, 1}, {1, 2, 1}};
  engine::Domain receiving(attach(network, 1));
  auto made = std::make_unique<Flushing>(attach(network, 0));
  Flushing& transport = *made;
  engine::Domain sending(std::move(made));
  Numbers numbers(2);
  transport.open = true;
  for (std::size_t i = 0; i < 2; ++i) {
    submit(receiving, groups[1], numbers.receiver(i));
    submit(sending, groups[0], numbers.sender(i));
    for (int step = 0; (sending.unfinished() || receiving.unfinished()) && step < Cluster::kSteps; ++step) {
      sending.advance(true);
      receiving.advance(true);
    }
    EXPECT_EQ(receiving.pending(), 0U);
    EXPECT_EQ(sending.pending(), 1U);
    EXPECT_FALSE(sending.unfinished());
  }
  transport.open = false;
  sending.advance(true);
  EXPECT_EQ(sending.pending(), 0U);
  EXPECT_TRUE(numbers.arrived());
}

// 1000 operations of one group are outstanding: each number arrives in its place, and only 256 are active at once.
TEST(Domain, ManyOperationsOfAGroupWaitForATag) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    constexpr std::uint32_t kOperations = 1000;
    Cluster cluster(2, seed);
    Numbers numbers(kOperations);
    for (std::uint32_t i = 0; i < kOperations; ++i) cluster.start(1, numbers.receiver(i));
    for (int i = 0; i < 10; ++i) cluster.domain(1).advance(true);
    EXPECT_EQ(cluster.network().unmatched(), transport::Group::kActive);
    EXPECT_EQ(cluster.domain(1).pending(), kOperations);
    for (std::uint32_t i = 0; i < kOperations; ++i) cluster.start(0, numbers.sender(i));
    ASSERT_TRUE(cluster.settle());
    EXPECT_TRUE(numbers.arrived());
    EXPECT_TRUE(cluster.group(0).idle());
    EXPECT_TRUE(cluster.group(1).idle());
    EXPECT_EQ(cluster.network().unmatched(), 0U);
  }
}

// Every second request is freed while it runs, some before the first step and some later: each of these is given back
// once, the others are not, and both kinds carry their message.
TEST(Domain, AbandonedInstancesAreGivenBackOnce) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    constexpr std::size_t kOperations = 50;
    Cluster cluster(2, seed);
    Numbers numbers(kOperations);
    std::vector<int> given_back(kOperations);
    std::vector<int> finished(kOperations);
    std::vector<int> abandoned(kOperations);
    const auto abandon = [&](std::size_t i) {
      auto running = Instance::Outcome::running;
      if (numbers.receiver(i).outcome.compare_exchange_strong(running, Instance::Outcome::abandoned)) abandoned[i] = 1;
    };
    struct Counts {
      int* given_back;
      int* finished;
    };
    std::vector<Counts> counts;
    for (std::size_t i = 0; i < kOperations; ++i) counts.push_back({&given_back[i], &finished[i]});
    for (std::size_t i = 0; i < kOperations; ++i) {
      Instance& receiver = numbers.receiver(i);
      receiver.user = &counts[i];
      receiver.on_finish = [](Instance& instance) {
        EXPECT_NE(instance.outcome, Instance::Outcome::finished);
        ++*static_cast<Counts*>(instance.user)->finished;
      };
      receiver.on_abandoned = [](Instance& instance) { ++*static_cast<Counts*>(instance.user)->given_back; };
      cluster.start(0, numbers.sender(i));
      cluster.start(1, receiver);
      if (i % 4 == 0) abandon(i);
    }
    for (std::size_t i = 2; i < kOperations; i += 4) {
      cluster.step();
      abandon(i);
    }
    ASSERT_TRUE(cluster.settle());
    EXPECT_EQ(given_back, abandoned);
    EXPECT_EQ(finished, std::vector<int>(kOperations, 1));
    EXPECT_TRUE(numbers.arrived());
  }
}

TEST(Domain, KnowsWhetherAllThatIsPendingComesOverTheNetwork) {
  Cluster cluster(2);
  TestGroup remote(1, 2, 2);
  remote.all_remote = true;
  Numbers numbers(2);
  auto& domain = cluster.domain(1);
  EXPECT_FALSE(domain.network_only()) << "nothing is pending";
  EXPECT_EQ(domain.wakeup(), Wakeup::none);
  submit(domain, remote, numbers.receiver(0));
  EXPECT_TRUE(domain.network_only());
  EXPECT_EQ(domain.wakeup(), Wakeup::sockets);
  cluster.start(1, numbers.receiver(1));
  EXPECT_FALSE(domain.network_only());
  EXPECT_EQ(domain.wakeup(), Wakeup::none);
  cluster.start(0, numbers.sender(1));  // meets the second one, whose group has the default number
  for (int i = 0; i < 100; ++i) cluster.step();
  EXPECT_TRUE(numbers.receiver(1).finished());
  EXPECT_TRUE(domain.network_only());
}

// Small blocks are copied at the first step after the start even when a long operation is under way; that one still
// gets its share in every step.
TEST(Domain, ALongOperationDoesNotHoldUpShortOnes) {
  Cluster cluster(1);
  constexpr std::uint64_t kLong = 40 * schedule::kSliceBytes;
  schedule::Builder builder("long", 1, 0);
  builder.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer}, kLong);
  const auto long_schedule = made(builder);
  schedule::Builder short_builder("short", 1, 0);
  short_builder.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer}, 8);
  const auto short_schedule = made(short_builder);
  std::vector<std::uint8_t> from(kLong, 3);
  std::vector<std::uint8_t> to(kLong, 0);
  std::vector<std::uint8_t> block(8);
  Instance long_instance(long_schedule);
  long_instance.bind(kSendBuffer, address(from));
  long_instance.bind(kRecvBuffer, address(to));
  cluster.start(0, long_instance);
  Instance short_instance(short_schedule);
  short_instance.bind(kSendBuffer, address(from));
  short_instance.bind(kRecvBuffer, address(block));
  for (int step = 0; step < 40; ++step) {
    EXPECT_FALSE(long_instance.finished());
    cluster.start(0, short_instance);
    cluster.step();
    EXPECT_TRUE(short_instance.finished());
  }
  EXPECT_TRUE(long_instance.finished());
  EXPECT_EQ(to, from);
}

// Two threads of each rank start operations of the same kind on groups of their own, many outstanding at once, while
// two others advance the domains: none gets another's message.
TEST(Domain, OperationsOfDifferentThreadsAreNotMixed) {
  constexpr std::size_t kThreads = 2;
  constexpr std::uint32_t kOperations = 400;
  Network network(5);
  engine::Domain domains[] = {engine::Domain(attach(network, 0)), engine::Domain(attach(network, 1))};
  std::vector<std::unique_ptr<Numbers>> numbers;
  std::vector<std::unique_ptr<TestGroup>> groups;
  for (std::size_t t = 0; t < kThreads; ++t) {
    numbers.push_back(std::make_unique<Numbers>(kOperations));
    for (int r = 0; r < 2; ++r) groups.push_back(std::make_unique<TestGroup>(r, 2, static_cast<int>(t) + 1));
  }
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    for (std::size_t r = 0; r < 2; ++r) {
      threads.emplace_back([&, t, r] {
        for (std::size_t i = 0; i < kOperations; ++i) {
          submit(domains[r], *groups[2 * t + r], r == 0 ? numbers[t]->sender(i) : numbers[t]->receiver(i));
        }
      });
    }
  }
  std::atomic<bool> started{false};
  for (auto& domain : domains) {
    threads.emplace_back([&] {
      while (!started || domain.pending() != 0) {
        ASSERT_TRUE(domain.try_own());
        if (!domain.advance(true)) std::this_thread::yield();
        domain.disown();
      }
    });
  }
  for (std::size_t i = 0; i < 2 * kThreads; ++i) threads[i].join();
  started = true;
  for (std::size_t i = 2 * kThreads; i < threads.size(); ++i) threads[i].join();
  for (const auto& of_thread : numbers) EXPECT_TRUE(of_thread->arrived());
  EXPECT_EQ(network.unmatched(), 0U);
}

// Both ranks start two operations of one kind on one group; rank 1's two come from different threads, one after the
// other.
TEST(Domain, TheOrderOfStartsTellsOperationsOfAGroupApart) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Cluster cluster(2, seed);
    Numbers numbers(2);
    for (std::size_t i = 0; i < 2; ++i) cluster.start(0, numbers.sender(i));
    std::thread([&] { cluster.start(1, numbers.receiver(0)); }).join();
    std::thread([&] { cluster.start(1, numbers.receiver(1)); }).join();
    ASSERT_TRUE(cluster.settle());
    EXPECT_TRUE(numbers.arrived());
  }
}

}  // namespace
}  // namespace urakata::simulated
