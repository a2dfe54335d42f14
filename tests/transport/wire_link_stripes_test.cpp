// SPDX-License-Identifier: BSD-3-Clause
// The link between ranks at different sites: long payload by stripes, with its RTS or after its CTS, arrives whole and
// once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "link_traffic.hpp"
#include "transport/link/wire_link.hpp"

namespace urakata::transport::wire_link_stripes_test {
namespace {

using namespace test;

class Sites : public ::testing::TestWithParam<std::vector<int>> {};

TEST_P(Sites, EveryMessageArrivesOnceAndInOrder) {
  std::vector<Node> nodes = job(static_cast<std::int32_t>(GetParam().size()), {}, p2p::Callers::one, GetParam());
  exchange(nodes);
  for (const Node& node : nodes) EXPECT_FALSE(node.stripes->traffic().empty());
}
INSTANTIATE_TEST_SUITE_P(WireLinkStripes, Sites,
                         ::testing::Values(std::vector{0, 1}, std::vector{0, 1, 0}, std::vector{0, 1, 2}));

class WireLinkStripesPair : public LinkPair {
 protected:
  WireLinkStripesPair() : LinkPair(job(2, {}, p2p::Callers::one, {0, 1})) {}

  static std::vector<std::uint32_t> numbers(std::uint64_t bytes, std::uint32_t first) {
    std::vector<std::uint32_t> made(bytes / sizeof first);
    for (std::uint32_t& each : made) each = first++;
    return made;
  }
  Request* send(std::vector<std::uint32_t>& of, std::int32_t tag) {
    return one().send(LinkPeer{1}, {1, 0, tag}, buffer(of), Mode::standard);
  }
  void finish(Endpoint& of, Request* request) {
    if (request == nullptr) return;
    while (!request->done()) step();
    of.release(*request);
  }
  void flush() {
    while (!nodes_[0].flushed()) step();
  }
};

// Five messages of which two go before they are asked for; received from the last to the first.
TEST_F(WireLinkStripesPair, WhatIsUnexpectedIsBounded) {
  constexpr std::uint64_t kBytes = 5UL << 20;
  std::vector<std::vector<std::uint32_t>> payloads;
  std::vector<Request*> sends;
  for (std::uint32_t i = 0; i < 5; ++i) payloads.push_back(numbers(kBytes, i * 1'000'003));
  for (std::int32_t i = 0; i < 5; ++i) sends.push_back(send(payloads[static_cast<std::size_t>(i)], i));
  for (int i = 0; i < 20'000; ++i) step();
  EXPECT_EQ(nodes_[0].stripes->traffic(1).bytes, WireLink::kAhead);
  for (std::int32_t i = 4; i >= 0; --i) {
    std::vector<std::uint32_t> got(kBytes / 4);
    finish(other(), &other().receive({1, kAnySource, i}, buffer(got)));
    EXPECT_TRUE(got == payloads[static_cast<std::size_t>(i)]);
  }
  for (Request* each : sends) finish(one(), each);
  flush();
}

// Longer than a slice: two of them before a CTS are not to be had.
TEST_F(WireLinkStripesPair, ALongMessageIsCut) {
  std::vector<std::uint32_t> payload = numbers(3 * LinkStripes::kSlice + 4000, 7);
  std::vector<std::uint32_t> got(payload.size());
  Request* const sent = send(payload, 0);
  for (int i = 0; i < 2000; ++i) step();
  EXPECT_EQ(nodes_[0].stripes->traffic(1).bytes, 0U);
  finish(other(), &other().receive({1, 0, 0}, buffer(got)));
  finish(one(), sent);
  EXPECT_TRUE(got == payload);
  flush();
}

// Of the payload that is on its way a receiver may want less, or nothing; what comes next is not disturbed.
TEST_F(WireLinkStripesPair, AReceiverWantsLess) {
  constexpr std::uint64_t kBytes = 6UL << 20;
  for (const std::size_t room : {std::size_t{1'000'000}, std::size_t{1}, std::size_t{0}}) {
    std::vector<std::uint32_t> first = numbers(kBytes, 1), second = numbers(kBytes, 2);
    std::vector<std::uint32_t> short_one(room + 1, 99), whole(kBytes / 4);
    Request* const one_send = send(first, 0);
    Request* const other_send = send(second, 0);
    Request& cut_off = other().receive({1, 0, 0}, buffer(short_one, room));
    Request& next = other().receive({1, 0, 0}, buffer(whole));
    while (!cut_off.done()) step();
    EXPECT_EQ(cut_off.result.outcome, Outcome::truncated);
    EXPECT_TRUE(std::equal(short_one.begin(), short_one.end() - 1, first.begin()));
    EXPECT_EQ(short_one.back(), 99U);
    other().release(cut_off);
    finish(other(), &next);
    finish(one(), one_send);
    finish(one(), other_send);
    EXPECT_TRUE(whole == second);
  }
  flush();
}

// A standard send of 40 000 bytes is over at once, and its buffer the program's again.
TEST_F(WireLinkStripesPair, AnEagerMessageGoesAsACopy) {
  std::vector<std::uint32_t> payload = numbers(40'000, 3);
  const std::vector<std::uint32_t> expected = payload;
  std::vector<std::uint32_t> got(payload.size());
  EXPECT_EQ(send(payload, 0), nullptr);
  payload.assign(payload.size(), 0);
  finish(other(), &other().receive({1, 0, 0}, buffer(got)));
  EXPECT_TRUE(got == expected);
  flush();
  EXPECT_EQ(nodes_[0].stripes->traffic(1).bytes, 40'000U);
}

TEST_F(WireLinkStripesPair, APeerThatEndsIsAnErrorOnWhatIsUnderWay) {
  std::vector<std::uint32_t> payload = numbers(12UL << 20, 3);
  Request* const sent = send(payload, 0);
  Request& awaited = one().receive({1, 1, 0}, buffer(payload, 0));
  for (int i = 0; i < 100; ++i) step();
  nodes_.pop_back();
  while (!sent->done()) one().progress();
  EXPECT_EQ(sent->result.outcome, Outcome::failed);
  one().release(*sent);
  one().fail_receives(1, 1);
  while (!awaited.done()) one().progress();
  one().release(awaited);
}

// What a link tells, without an endpoint behind it.
class Told final : public p2p::Link::Events {
 public:
  std::function<void()> on_sent = [] {};
  std::vector<p2p::LinkTicket> sends;
  unsigned answers = 0;

  void eager(LinkPeer, const Envelope&, std::byte*, std::uint64_t, p2p::LinkTicket) override {}
  void rts(LinkPeer, const Envelope&, std::uint64_t, p2p::LinkTicket) override {}
  bool cts(LinkPeer, p2p::LinkTicket, p2p::LinkTicket, std::uint64_t) override {
    ++answers;
    return true;
  }
  void sent(p2p::LinkTicket send) override {
    sends.push_back(send);
    on_sent();
  }
  void received(p2p::LinkTicket) override {}
  void failed(LinkPeer) override {}
};

// Rank 0 loses rank 1. Its long send to rank 2 ends in the same poll, after the ends of others have been told.
TEST(WireLinkStripes, ASendThatEndsAsAPeerIsLostIsToldAtOnce) {
  constexpr p2p::LinkTicket kLong{2};
  std::uint64_t next = 2;
  std::vector<Node> nodes = job(3, {}, p2p::Callers::one, {0, 1, 2});
  std::array<Told, 3> told;
  WireLink& link = *nodes[0].link;
  WireLink& receiver = *nodes[2].link;
  std::vector<std::byte> payload(6UL << 20), room(payload.size());
  std::byte word{}, word_room{};
  link.watch(LinkPeer{1});
  receiver.send_cts(LinkPeer{0}, kLong, kLong, {room.data(), room.size(), nullptr}, room.size());
  while (told[0].answers == 0) {
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].link->poll(told[i]);
  }
  link.send_payload(LinkPeer{2}, kLong, {payload.data(), payload.size(), nullptr}, payload.size(), kLong);
  told[0].on_sent = [&] {
    if (!link.is_lost(LinkPeer{1})) return;
    while (!nodes[0].stripes->settled()) receiver.poll(told[2]);
  };
  nodes[1].endpoint.reset();
  nodes[1].link.reset();
  nodes[1].stripes.reset();
  nodes[1].wire.reset();
  while (!link.is_lost(LinkPeer{1})) {  // in each poll a short send ends
    const p2p::LinkTicket ticket{next += 2};
    receiver.send_cts(LinkPeer{0}, ticket, ticket, {&word_room, 1, nullptr}, 1);
    link.send_payload(LinkPeer{2}, ticket, {&word, 1, nullptr}, 1, ticket);
    link.poll(told[0]);
  }
  EXPECT_EQ(std::ranges::count(told[0].sends, kLong), 1);
}

}  // namespace
}  // namespace urakata::transport::wire_link_stripes_test
