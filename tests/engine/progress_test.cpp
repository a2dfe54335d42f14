// SPDX-License-Identifier: BSD-3-Clause
// How far an instance is whose messages go by transport `wire`.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>

#include "../transport/loopback.hpp"
#include "cluster.hpp"
#include "engine/instance.hpp"
#include "transport/wire/wire_port.hpp"

namespace urakata::simulated {
namespace {

using transport::WirePort;

class Progress : public ::testing::Test {
 protected:
  // A rank's own place in a job of two, and how far its instance was from step to step.
  struct Rank {
    Rank(transport::Wire& wire, int own, schedule::Schedule&& made)
        : schedule(std::move(made)), instance(schedule), domain(std::make_unique<WirePort>(wire)), group(own, 2, 1) {}
    schedule::Schedule schedule;
    engine::Instance instance;
    engine::Domain domain;
    TestGroup group;
  };

  Progress() : wires_(transport::wires_of(2, failures_)) {}

  // Runs one schedule a rank to its end; `waits_from`: bytes of rank 1's progress from which on its program waits.
  void run(std::array<std::unique_ptr<Rank>, 2>& ranks, std::uint64_t waits_from) {
    for (auto& rank : ranks) {
      rank->instance.bind(schedule::kSendBuffer, address(bytes_[0]));
      rank->instance.bind(schedule::kRecvBuffer, address(bytes_[1]));
      rank->instance.progress.begin(waits_);
      submit(rank->domain, rank->group, rank->instance);
    }
    for (int i = 0; i < 10'000'000 && !(ranks[0]->instance.finished() && ranks[1]->instance.finished()); ++i) {
      for (auto& rank : ranks) rank->domain.advance(true);
      if (ranks[1]->instance.progress.all() >= waits_from) waits_ = 1;
    }
    for (auto& rank : ranks) EXPECT_TRUE(rank->instance.finished());
  }

  static constexpr std::uint64_t kBytes = 20'000'000;
  std::atomic<std::uint32_t> waits_{0};
  transport::Failures failures_{transport::kFailure};
  std::vector<std::unique_ptr<transport::Wire>> wires_;
  std::array<std::vector<std::uint8_t>, 2> bytes_{std::vector<std::uint8_t>(kBytes), std::vector<std::uint8_t>(kBytes)};
};

TEST_F(Progress, CountsEachByteOnceAndThoseApartThatCameWhileNobodyWaited) {
  std::array ranks{std::make_unique<Rank>(*wires_[0], 0, one_message(0, kBytes)),
                   std::make_unique<Rank>(*wires_[1], 1, one_message(1, kBytes))};
  run(ranks, kBytes / 2);
  for (auto& rank : ranks) EXPECT_EQ(rank->instance.progress.all(), kBytes + 1);
  const std::uint64_t computing = ranks[1]->instance.progress.computing();
  EXPECT_GE(computing, kBytes / 2);
  EXPECT_LT(computing, kBytes / 2 + 2'000'000) << "one step's worth";
}

TEST_F(Progress, WhoReceivesCountsWhatComes) {
  // Rank 1 copies what has come and sends an answer of one byte.
  const auto with_answer = [](int own) {
    schedule::Builder builder("answered", 2, static_cast<std::uint32_t>(own));
    if (own == 0) {
      builder.after(builder.send(1, {.buffer = schedule::kSendBuffer}, kBytes),
                    builder.recv(1, {.buffer = schedule::kRecvBuffer}, 1));
    } else {
      const auto came = builder.recv(0, {.buffer = schedule::kRecvBuffer}, kBytes);
      const auto copied = builder.copy({.buffer = schedule::kRecvBuffer}, {.buffer = schedule::kSendBuffer}, 1000);
      builder.after(came, copied);
      builder.after(copied, builder.send(0, {.buffer = schedule::kSendBuffer}, 1));
    }
    return made(builder);
  };
  std::array ranks{std::make_unique<Rank>(*wires_[0], 0, with_answer(0)),
                   std::make_unique<Rank>(*wires_[1], 1, with_answer(1))};
  run(ranks, ~std::uint64_t{0});
  EXPECT_EQ(ranks[0]->instance.progress.all(), 2U);
  EXPECT_EQ(ranks[1]->instance.progress.all(), kBytes + 1);
}

TEST_F(Progress, WhereNobodyAsksNothingIsCounted) {
  std::array ranks{std::make_unique<Rank>(*wires_[0], 0, one_message(0, 1000)),
                   std::make_unique<Rank>(*wires_[1], 1, one_message(1, 1000))};
  for (auto& rank : ranks) {
    rank->instance.bind(schedule::kSendBuffer, address(bytes_[0]));
    rank->instance.bind(schedule::kRecvBuffer, address(bytes_[1]));
    submit(rank->domain, rank->group, rank->instance);
  }
  for (int i = 0; i < 1'000'000 && !ranks[1]->instance.finished(); ++i) {
    for (auto& rank : ranks) rank->domain.advance(true);
  }
  EXPECT_TRUE(ranks[1]->instance.finished());
  EXPECT_EQ(ranks[1]->instance.progress.all(), 0U);
}

}  // namespace
}  // namespace urakata::simulated
