// SPDX-License-Identifier: BSD-3-Clause
// Lists of starts (MPI_Startall): what they cost, and the order that they keep.
#include <gtest/gtest.h>

#include <thread>

#include "cluster.hpp"
#include "engine/poll.hpp"
#include "engine/thread.hpp"

namespace urakata::simulated {
namespace {

using engine::Domain;
using engine::Instance;
using schedule::kRecvBuffer;
using schedule::kSendBuffer;

// Counts how often a domain is owned for a start or a step: each time, as its last act, the owner asks wakeup() once.
class CountingTransport final : public transport::Transport {
 public:
  explicit CountingTransport(int& owned) : owned_(owned) {}
  int send(const transport::Message&, transport::Ticket, bool* finished) override { return at_once(finished); }
  int recv(const transport::Message&, transport::Ticket, bool* finished) override { return at_once(finished); }
  std::span<const transport::Completion> poll() override { return {}; }
  std::size_t in_flight() const override { return 0; }
  std::size_t cancel(const void*) override { return 0; }
  void tell(std::int32_t, const transport::Notice&) override {}
  const transport::Failures& failures() const override { return failures_; }
  std::vector<int> descriptors() const override { return {0}; }
  Wakeup wakeup() const override {
    ++owned_;
    return Wakeup::descriptors;
  }

 private:
  static int at_once(bool* finished) {
    *finished = true;
    return 0;
  }
  int& owned_;
  transport::Failures failures_{1};
};

// Operations of one rank, each a copy of a number, that say in which order they finish.
class Copies {
 public:
  explicit Copies(std::size_t count) : from_(count), to_(count, ~0U) {
    std::iota(from_.begin(), from_.end(), 0U);
    for (std::size_t i = 0; i < count; ++i) {
      Instance& instance = *instances_.emplace_back(std::make_unique<Instance>(schedule_));
      instance.bind(kSendBuffer, reinterpret_cast<std::byte*>(&from_[i]));
      instance.bind(kRecvBuffer, reinterpret_cast<std::byte*>(&to_[i]));
      instance.user = this;
      instance.on_finish = [](Instance& one) { static_cast<Copies*>(one.user)->order_.push_back(&one); };
      list_.push_back(&instance);
    }
  }
  std::span<Instance* const> list() {
    for (Instance* instance : list_) prepare(group_, *instance);
    return list_;
  }
  bool finished_in_order() const { return order_ == list_ && to_ == from_; }

 private:
  static schedule::Schedule copy() {
    schedule::Builder builder("copy", 1, 0);
    builder.copy({.buffer = kSendBuffer}, {.buffer = kRecvBuffer}, 4);
    return made(builder);
  }
  schedule::Schedule schedule_ = copy();
  TestGroup group_{0, 1, 1};
  std::vector<std::uint32_t> from_;
  std::vector<std::uint32_t> to_;
  std::vector<std::unique_ptr<Instance>> instances_;
  std::vector<Instance*> list_;
  std::vector<Instance*> order_;
};

constexpr std::size_t kMany = 100;

TEST(Starts, ManyTakeOneOwnership) {
  int owned = 0;
  Domain domain(std::make_unique<CountingTransport>(owned));
  engine::PollEngine engine(domain);
  Copies one_by_one(kMany);
  for (Instance* instance : one_by_one.list()) engine.start(*instance);
  EXPECT_EQ(owned, static_cast<int>(kMany));
  EXPECT_TRUE(one_by_one.finished_in_order());
  owned = 0;
  Copies together(kMany);
  engine.start_all(together.list());
  EXPECT_EQ(owned, 1);
  EXPECT_TRUE(together.finished_in_order());
  EXPECT_EQ(domain.pending(), 0U);
}

TEST(Starts, AListIsLeftToWhoeverOwnsTheDomain) {
  int owned = 0;
  Domain domain(std::make_unique<CountingTransport>(owned));
  engine::PollEngine engine(domain);
  ASSERT_TRUE(domain.try_own());
  Copies first(kMany);
  Copies none(0);
  Copies second(kMany);
  engine.start_all(first.list());
  engine.start_all(none.list());
  engine.start_all(second.list());
  EXPECT_EQ(owned, 0);
  EXPECT_EQ(domain.pending(), 2 * kMany);
  EXPECT_NE(domain.advance(true), 0U);
  EXPECT_EQ(owned, 1);
  domain.disown();
  EXPECT_TRUE(first.finished_in_order());
  EXPECT_TRUE(second.finished_in_order());
}

// Short messages that the caller posts and long ones that it leaves to the progress thread, mixed in one list.
TEST(Starts, AProgressThreadRunsAListOfShortAndLongMessages) {
  constexpr std::uint64_t kLong = 1 << 20;
  constexpr std::size_t kPairs = 8;
  Network network(5);
  Domain domains[2] = {Domain(attach(network, 0)), Domain(attach(network, 1))};
  TestGroup groups[2] = {TestGroup(0, 2, 1), TestGroup(1, 2, 1)};
  engine::ThreadEngine first(domains[0], {});
  engine::ThreadEngine second(domains[1], {});
  engine::Engine* const engines[2] = {&first, &second};
  const schedule::Schedule schedules[2][2] = {{one_message(0, 4), one_message(0, kLong)},
                                              {one_message(1, 4), one_message(1, kLong)}};
  std::mt19937_64 random(3);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::vector<std::uint32_t>> buffers[2];
    std::vector<std::unique_ptr<Instance>> instances[2];
    for (std::size_t i = 0; i < kPairs; ++i) {
      const std::size_t size = random() % 2;
      for (const int rank : {0, 1}) {
        buffers[rank].emplace_back(size != 0 ? kLong / 4 : 1,
                                   rank == 0 ? static_cast<std::uint32_t>(round * 100 + static_cast<int>(i)) : ~0U);
        instances[rank].push_back(std::make_unique<Instance>(schedules[rank][size]));
        instances[rank].back()->bind(rank == 0 ? kSendBuffer : kRecvBuffer, address(buffers[rank].back()));
      }
    }
    for (const int rank : {0, 1}) {
      std::vector<Instance*> list;
      for (const auto& instance : instances[rank]) {
        prepare(groups[rank], *instance);
        list.push_back(instance.get());
      }
      engines[rank]->start_all(list);
    }
    for (const auto& of_rank : instances) {
      for (const auto& instance : of_rank) {
        while (!instance->finished()) std::this_thread::yield();
      }
    }
    EXPECT_EQ(buffers[0], buffers[1]);
  }
}

}  // namespace
}  // namespace urakata::simulated
