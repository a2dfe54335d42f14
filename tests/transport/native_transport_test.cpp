// SPDX-License-Identifier: BSD-3-Clause
#include "transport/native_transport.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "network.hpp"

namespace urakata::simulated::native_transport_test {
namespace {

using transport::Completion;
using transport::Message;
using transport::Ticket;

Message message(std::uint8_t* address, int peer, int tag, std::uint64_t bytes = 1) {
  return {
      .address = reinterpret_cast<std::byte*>(address), .bytes = bytes, .layout = nullptr, .peer = peer, .tag = tag};
}

// Rank 0 sends the numbers 0 1 2 ... under tags of their own; rank 1 gets each in its place, whatever the order.
TEST(NativeTransport, ReportsEveryMessageOnceWithItsTicket) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Network network(seed);
    const auto sender = attach(network, 0);
    const auto receiver = attach(network, 1);
    constexpr std::uint32_t kMessages = 40;
    std::array<std::uint8_t, kMessages> from{};
    std::array<std::uint8_t, kMessages> to{};
    int instance = 0;
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      from[i] = static_cast<std::uint8_t>(i);
      ASSERT_EQ(receiver->recv(message(&to[i], 0, static_cast<int>(i)), {&instance, i, i + 1}, nullptr), 0);
      ASSERT_EQ(sender->send(message(&from[i], 1, static_cast<int>(i)), {&instance, i, i + 1}, nullptr), 0);
    }
    EXPECT_EQ(receiver->in_flight(), kMessages);
    std::array<std::set<std::uint32_t>, 2> seen;
    for (int poll = 0; poll < 1000 && sender->in_flight() + receiver->in_flight() != 0; ++poll) {
      for (auto* side : {sender.get(), receiver.get()}) {
        for (const Completion& completion : side->poll()) {
          EXPECT_EQ(completion.error, 0);
          EXPECT_EQ(completion.ticket.instance, &instance);
          EXPECT_EQ(completion.ticket.iteration, completion.ticket.node + 1);
          if (side == receiver.get()) {
            EXPECT_EQ(to[completion.ticket.node], completion.ticket.node);
          }
          EXPECT_TRUE(seen[side == receiver.get()].insert(completion.ticket.node).second) << "reported twice";
        }
      }
    }
    EXPECT_EQ(seen[0].size(), kMessages);
    EXPECT_EQ(seen[1].size(), kMessages);
    EXPECT_EQ(to, from);
    EXPECT_TRUE(sender->poll().empty());
  }
}

TEST(NativeTransport, TakesMessagesWhileCompletionsAreRead) {
  Network network(1);
  const auto self = attach(network, 0);
  std::array<std::uint8_t, 8> from{};
  std::array<std::uint8_t, 8> to{};
  std::uint32_t posted = 1;
  std::uint32_t received = 0;
  ASSERT_EQ(self->send(message(&from[0], 0, 5), {nullptr, 0, 0}, nullptr), 0);
  ASSERT_EQ(self->recv(message(&to[0], 0, 5), {nullptr, 1, 0}, nullptr), 0);
  for (int poll = 0; poll < 1000 && self->in_flight() != 0; ++poll) {
    for (const Completion& completion : self->poll()) {
      if (completion.ticket.node != 1) continue;
      EXPECT_EQ(completion.ticket.iteration, received++);
      if (posted == from.size()) continue;
      ASSERT_EQ(self->send(message(&from[posted], 0, 5), {nullptr, 0, posted}, nullptr), 0);
      ASSERT_EQ(self->recv(message(&to[posted], 0, 5), {nullptr, 1, posted}, nullptr), 0);
      ++posted;
    }
  }
  EXPECT_EQ(received, from.size());
}

TEST(NativeTransport, AMessageThatCannotBePostedIsNotKept) {
  Network network(1);
  const auto self = attach(network, 0);
  std::uint8_t byte = 0;
  network.fail_next(0, Network::Call::isend, 7);
  EXPECT_EQ(self->send(message(&byte, 0, 1), {}, nullptr), 7);
  network.fail_next(0, Network::Call::irecv, 8);
  EXPECT_EQ(self->recv(message(&byte, 0, 1), {}, nullptr), 8);
  EXPECT_EQ(self->in_flight(), 0U);
  EXPECT_TRUE(self->poll().empty());
}

TEST(NativeTransport, TheErrorOfOneMessageIsItsOwn) {
  Network network(3);
  const auto sender = attach(network, 0);
  const auto receiver = attach(network, 1);
  std::array<std::uint8_t, 3> bytes{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(sender->send(message(&bytes[i], 1, static_cast<int>(i)), {nullptr, i, 0}, nullptr), 0);
    // The second receive expects one byte fewer than it is sent.
    ASSERT_EQ(receiver->recv(message(&bytes[i], 0, static_cast<int>(i), i == 1 ? 0 : 1), {nullptr, i, 0}, nullptr), 0);
  }
  std::array<int, 3> codes{-1, -1, -1};
  for (int poll = 0; poll < 1000 && receiver->in_flight() != 0; ++poll) {
    for (const Completion& completion : receiver->poll()) codes[completion.ticket.node] = completion.error;
  }
  EXPECT_EQ(codes, (std::array{0, kTruncated, 0}));
}

TEST(NativeTransport, AFailedPollEndsEveryMessage) {
  Network network(4);
  const auto self = attach(network, 0);
  std::array<std::uint8_t, 5> bytes{};
  for (std::uint32_t i = 0; i < 5; ++i) {
    ASSERT_EQ(self->recv(message(&bytes[i], 1, static_cast<int>(i)), {nullptr, i, 0}, nullptr), 0);
  }
  EXPECT_TRUE(self->poll().empty());
  network.fail_next(0, Network::Call::poll, 9);
  std::set<std::uint32_t> ended;
  for (const Completion& completion : self->poll()) {
    EXPECT_EQ(completion.error, 9);
    ended.insert(completion.ticket.node);
  }
  EXPECT_EQ(ended.size(), 5U);
  EXPECT_EQ(self->in_flight(), 0U);
  EXPECT_TRUE(self->poll().empty());
}

// Of two receives one has met its message when both are given up: that one's message still comes, the other is taken
// back, and a send that nobody receives ends when its time is up.
TEST(NativeTransport, WhatIsGivenUpEnds) {
  Network network(5);
  network.nothing_at_once();
  const auto self = attach(network, 0);
  const auto other = attach(network, 1);
  std::array<std::uint8_t, 3> bytes{1, 0, 0};
  int instance = 0;
  ASSERT_EQ(other->send(message(&bytes[0], 0, 1), {}, nullptr), 0);
  ASSERT_EQ(self->recv(message(&bytes[1], 1, 1), {&instance, 1, 0}, nullptr), 0);
  ASSERT_EQ(self->recv(message(&bytes[2], 1, 2), {&instance, 2, 0}, nullptr), 0);
  ASSERT_EQ(self->send(message(&bytes[0], 1, 3), {&instance, 3, 0}, nullptr), 0);
  EXPECT_EQ(self->cancel(&instance), 0U);
  std::set<std::uint32_t> ended;
  for (int poll = 0; poll < 1000; ++poll) {
    for (const Completion& completion : self->poll()) ended.insert(completion.ticket.node);
  }
  EXPECT_EQ(ended, (std::set<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(bytes[1], 1);
  EXPECT_EQ(self->in_flight(), 0U);
  ASSERT_EQ(other->send(message(&bytes[0], 0, 2), {}, nullptr), 0);
  for (int poll = 0; poll < 1000; ++poll) self->poll();
  EXPECT_EQ(bytes[2], 0);
}

}  // namespace
}  // namespace urakata::simulated::native_transport_test
