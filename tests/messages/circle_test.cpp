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
  EXPECT_FALSE(circle->close());
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
  EXPECT_FALSE(whole->close());
}

// The program frees the handle while a request is open: the host's communicator goes with the last request.
TEST_F(CircleTest, FreesTheCommunicatorWithItsLastUser) {
  Circle* circle = make(2);
  circle->retain();
  EXPECT_FALSE(circle->idle());
  EXPECT_TRUE(circle->close());
  EXPECT_TRUE(host_.freed_communicators.empty());
  circle->leave_behind();
  circle->release();
  EXPECT_TRUE(host_.freed_communicators.contains(kCommunicator));
  circle->drop();
}

// The same with no request open, but for one that was left behind: the caller frees the communicator.
TEST_F(CircleTest, WhatIsLeftBehindKeepsTheObjectOnly) {
  Circle* circle = make(2);
  circle->leave_behind();
  EXPECT_FALSE(circle->idle());
  EXPECT_FALSE(circle->close());
  circle->drop();
  EXPECT_TRUE(host_.freed_communicators.empty());
}

}  // namespace
}  // namespace urakata::messages::test
