// SPDX-License-Identifier: BSD-3-Clause
// What a port is told of its messages, and what it gives up.
#include "transport/wire/wire_port.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <random>
#include <vector>

#include "../seed.hpp"
#include "transport/group.hpp"
#include "wire_job.hpp"

namespace urakata::transport::wire_test::wire_port_test {
namespace {

TEST(Wire, AMessageIsReportedToThePortThatPostedItAndWakesIt) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  WirePort here(*wires[1]);
  WirePort other(*wires[1]);
  auto bytes = filled(10, 1);
  std::vector<std::byte> room(10);
  bool finished = false;
  ASSERT_EQ(here.recv(message(room, 0, 0), {nullptr, 7, 0}, &finished), 0);
  ASSERT_FALSE(finished);
  ASSERT_EQ(a.send(message(bytes, 1, 0), {}, nullptr), 0);
  while (a.in_flight() != 0) a.poll();
  pollfd bell{.fd = here.descriptors().back(), .events = POLLIN, .revents = 0};
  while (poll(&bell, 1, 0) == 0) EXPECT_TRUE(other.poll().empty());
  const auto reported = here.poll();
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_EQ(reported.front().ticket.node, 7U);
  EXPECT_EQ(room, bytes);
  EXPECT_EQ(poll(&bell, 1, 0), 0) << "the bell still rings";
}

// Both sides are told how far a payload is, piece by piece; what they were told by the end is in the ticket.
TEST(Wire, TellsHowFarAPayloadIs) {
  auto wires = job(2);
  std::array<WirePort, 2> ports{WirePort(*wires[0]), WirePort(*wires[1])};
  std::vector<std::byte> from = filled(20'000'000, 1);
  std::vector<std::byte> to(from.size());
  const std::atomic<std::uint32_t> waiting{0};
  std::array<ProgressCount, 2> progress;
  for (auto& one : progress) one.begin(waiting);
  ports[0].send(message(from, 1, 5), {.instance = this, .progress = &progress[0]}, nullptr);
  ports[1].recv(message(to, 0, 5), {.instance = this, .progress = &progress[1]}, nullptr);
  std::array<std::uint64_t, 2> before{}, steps{};
  std::size_t open = 2;
  for (int i = 0; i < 10'000'000 && open != 0; ++i) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      for (const Completion& one : ports[rank].poll()) {
        EXPECT_EQ(one.ticket.told, progress[rank].all());
        --open;
      }
      EXPECT_GE(progress[rank].all(), before[rank]);
      steps[rank] += progress[rank].all() != before[rank] ? 1 : 0;
      before[rank] = progress[rank].all();
    }
  }
  EXPECT_EQ(open, 0U);
  EXPECT_EQ(to, from);
  EXPECT_GE(steps[0], 2U);
  EXPECT_GE(steps[1], 10U);
  for (const std::uint64_t told : before) EXPECT_LE(told, from.size());
}

// An operation of each rank is given up with messages in every state: none is reported, none is read from or written to
// its buffers afterwards, and another operation's messages between the two go on.
TEST(Wire, WhatIsGivenUpTouchesNoBufferAnyMore) {
  const unsigned seed = drawn_seed();
  std::mt19937 random(seed);
  constexpr int kOver = 7 << Group::kContextShift;
  constexpr std::size_t kSizes[] = {0, 100, 100'000, Wire::kEager + 1, 3'000'000};
  for (int round = 0; round < 60; ++round) {
    auto wires = job(2);
    std::array<std::unique_ptr<WirePort>, 2> ports{std::make_unique<WirePort>(*wires[0]),
                                                   std::make_unique<WirePort>(*wires[1])};
    int failed = 0;  // instances are told apart by address only
    const std::atomic<std::uint32_t> waiting{0};
    auto progress = std::make_unique<ProgressCount>();  // of those that are given up
    progress->begin(waiting);
    int other = 0;
    std::deque<std::vector<std::byte>> sent;
    std::deque<std::vector<std::byte>> room;
    for (int i = 0; i < 8; ++i) {
      const auto rank = random() % 2;
      const std::size_t which = random() % std::size(kSizes);
      const std::size_t size = kSizes[which];
      const int tag = kOver + static_cast<int>(which);
      if (random() % 3 != 0) {
        sent.push_back(filled(size, 1));
        ports[rank]->send(message(sent.back(), 1 - static_cast<int>(rank), tag), {&failed, 0, 0, progress.get()},
                          nullptr);
      }
      if (random() % 3 != 0) {
        room.emplace_back(size);
        ports[1 - rank]->recv(message(room.back(), static_cast<int>(rank), tag), {&failed, 0, 0, progress.get()},
                              nullptr);
      }
      for (auto left = random() % 4; left != 0; --left) ports[random() % 2]->poll();
    }
    for (const std::size_t rank : {0U, 1U}) {
      ports[rank]->cancel(&failed);
      ports[rank]->tell(1 - static_cast<int>(rank), {.from = static_cast<int>(rank), .origin = 7, .context = 7});
    }
    for (auto& bytes : sent) std::vector<std::byte>().swap(bytes);  // whoever reads or writes now is found out
    for (auto& bytes : room) std::vector<std::byte>().swap(bytes);
    progress.reset();
    auto from = filled(200'000, 3);
    std::vector<std::byte> to(from.size());
    ports[0]->send(message(from, 1, 1), {&other, 0, 0}, nullptr);
    ports[1]->recv(message(to, 0, 1), {&other, 0, 0}, nullptr);
    std::size_t open = 2;
    for (int i = 0; i < 1'000'000 && open != 0; ++i) {
      for (auto& port : ports) {
        for (const Completion& one : port->poll()) open -= one.ticket.instance == &other ? 1 : 0;
      }
    }
    ASSERT_EQ(open, 0U) << "round " << round;
    EXPECT_EQ(to, from);
    EXPECT_EQ(ports[0]->in_flight() + ports[1]->in_flight(), 0U);
  }
}

}  // namespace
}  // namespace urakata::transport::wire_test::wire_port_test
