// SPDX-License-Identifier: BSD-3-Clause
// A communicator of four ranks, of which 0 and 1 share a space: a message to 1 goes by its port, with the number that 1
// has chosen; one to 2 is the host's; a receive from any source is both's.
#include "messages/circle.hpp"

#include <gtest/gtest.h>

#include "model_host.hpp"

namespace urakata::messages::test {
namespace {

constexpr HostHandle kCommunicator = 77;

class CircleTest : public ::testing::Test {
 protected:
  Circle* make(int in_space) {
    std::vector<Circle::Peer> peers(4);
    for (int i = 0; i < in_space; ++i)
      peers[static_cast<std::size_t>(i)] = {&ports_[i], 10U + static_cast<unsigned>(i)};
    return Circle::make(host_, kCommunicator, 0, 10, std::move(peers));
  }

  ModelHost host_;
  p2p::Port ports_[4];
};

TEST_F(CircleTest, GivesEachMessageItsWay) {
  Circle* circle = make(2);
  ASSERT_NE(circle, nullptr);
  EXPECT_TRUE(circle->mixed);
  EXPECT_TRUE(circle->has(3));
  EXPECT_FALSE(circle->has(4));
  EXPECT_FALSE(circle->has(-1));
  MessageDescriptor send;
  send.circle = circle;
  ASSERT_TRUE(route_send(1, 5, p2p::Mode::synchronous, send));
  EXPECT_EQ(send.to, &ports_[1]);
  EXPECT_EQ(send.envelope, (p2p::Envelope{11, 0, 5}));
  EXPECT_FALSE(route_send(2, 5, p2p::Mode::standard, send));
  const auto way = [&](std::int32_t source) {
    MessageDescriptor receive;
    receive.circle = circle;
    route_receive(source, p2p::kAnyTag, receive);
    EXPECT_EQ(receive.envelope, (p2p::Envelope{10, source, p2p::kAnyTag}));
    return receive.carrier;
  };
  EXPECT_EQ(way(1), Carrier::space);
  EXPECT_EQ(way(2), Carrier::by_host);
  EXPECT_EQ(way(p2p::kAnySource), Carrier::either);
  circle->close({});
}

TEST_F(CircleTest, NeedsTwoRanksOfTheSpace) {
  EXPECT_EQ(make(1), nullptr);
  Circle* whole = make(4);
  ASSERT_NE(whole, nullptr);
  EXPECT_FALSE(whole->mixed);
  MessageDescriptor receive;
  receive.circle = whole;
  route_receive(p2p::kAnySource, 0, receive);
  EXPECT_EQ(receive.carrier, Carrier::space);
  whole->close({});
}

// 0 and 1 share a space, a link leads to 2, and 3 is the host's: or all but 0 are reached by the link.
TEST_F(CircleTest, ReachesRanksByALink) {
  std::vector<Circle::Peer> peers{{&ports_[0], 10}, {&ports_[1], 11}, {nullptr, 12, p2p::LinkPeer{5}}, {}};
  Circle* circle = Circle::make(host_, kCommunicator, 0, 10, peers);
  ASSERT_NE(circle, nullptr);
  EXPECT_TRUE(circle->mixed && circle->wide && circle->linked(2) && !circle->outside(2) && circle->outside(3));
  MessageDescriptor send;
  send.circle = circle;
  EXPECT_FALSE(route_send(2, 5, p2p::Mode::buffered, send));
  EXPECT_FALSE(route_send_by_link(3, 5, p2p::Mode::buffered, send) || send.is_send());
  ASSERT_TRUE(route_send_by_link(2, 5, p2p::Mode::buffered, send));
  EXPECT_TRUE(send.is_send());
  EXPECT_EQ(send.peer, p2p::LinkPeer{5});
  EXPECT_EQ(send.envelope, (p2p::Envelope{12, 0, 5}));
  EXPECT_EQ(copy_of(send).peer, send.peer);
  const auto way = [](Circle* in, std::int32_t source) {
    MessageDescriptor receive;
    receive.circle = in;
    route_receive(source, 0, receive);
    return receive.carrier;
  };
  EXPECT_EQ(way(circle, 1), Carrier::space);
  EXPECT_EQ(way(circle, 2), Carrier::link);
  EXPECT_EQ(way(circle, 3), Carrier::by_host);
  EXPECT_EQ(way(circle, p2p::kAnySource), Carrier::either);
  peers = {{&ports_[0], 10}, {nullptr, 12, p2p::LinkPeer{1}}};
  Circle* alone = Circle::make(host_, kCommunicator, 0, 10, peers);
  ASSERT_NE(alone, nullptr);
  EXPECT_TRUE(!alone->mixed && alone->wide);
  EXPECT_EQ(way(alone, p2p::kAnySource), Carrier::link);
  circle->close({});
  alone->close({});
}

// The program frees the handle while a request is open: the host's communicator is kept for it, or is gone at once.
TEST_F(CircleTest, LivesUntilTheLastRequestOfAFreedCommunicator) {
  for (const bool kept : {true, false}) {
    host_.freed_communicators.clear();
    Circle* circle = make(2);
    EXPECT_TRUE(circle->unused());
    circle->retain();
    EXPECT_FALSE(circle->unused() || circle->closed());
    circle->close({.kept = kept, .handler = 5});
    EXPECT_EQ(circle->gone(), !kept);
    EXPECT_TRUE(circle->closed());
    EXPECT_EQ(circle->freed().handler, 5U);
    EXPECT_EQ(host_.unused_circles, kept ? 0 : 1);
    circle->leave_behind();
    circle->release();
    EXPECT_EQ(host_.unused_circles, kept ? 1 : 2);
    EXPECT_EQ(host_.freed_communicators.contains(kCommunicator), kept);
    circle->drop();
  }
}

// The same with no request open, but for one that was left behind.
TEST_F(CircleTest, WhatIsLeftBehindKeepsTheObjectOnly) {
  Circle* circle = make(2);
  circle->leave_behind();
  EXPECT_TRUE(circle->unused());
  EXPECT_FALSE(circle->none_left_behind());
  circle->close({});
  EXPECT_EQ(host_.unused_circles, 1);
  circle->drop();
}

}  // namespace
}  // namespace urakata::messages::test
