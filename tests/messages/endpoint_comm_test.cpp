// SPDX-License-Identifier: BSD-3-Clause
// A communicator of four ranks, of which 0 and 1 share a space: a message to 1 goes by its port, with the number that 1
// has chosen; one to 2 is the MPI library's; a receive from any source is both's.
#include "messages/endpoint_comm.hpp"

#include <gtest/gtest.h>

#include "model_native_receives.hpp"

namespace urakata::messages::test {
namespace {

constexpr NativeHandle kCommunicator = 77;

class EndpointCommTest : public ::testing::Test {
 protected:
  EndpointComm* make(int in_space) {
    std::vector<EndpointComm::Peer> peers(4);
    for (int i = 0; i < in_space; ++i)
      peers[static_cast<std::size_t>(i)] = {&ports_[i], 10U + static_cast<unsigned>(i)};
    return EndpointComm::make(native_, kCommunicator, 0, 10, std::move(peers));
  }

  ModelNativeReceives native_;
  p2p::Port ports_[4];
};

TEST_F(EndpointCommTest, GivesEachMessageItsWay) {
  EndpointComm* endpoint_comm = make(2);
  ASSERT_NE(endpoint_comm, nullptr);
  EXPECT_TRUE(endpoint_comm->mixed);
  EXPECT_TRUE(endpoint_comm->has(3));
  EXPECT_FALSE(endpoint_comm->has(4));
  EXPECT_FALSE(endpoint_comm->has(-1));
  MessageDescriptor send;
  send.endpoint_comm = endpoint_comm;
  ASSERT_TRUE(route_send(1, 5, p2p::Mode::synchronous, send));
  EXPECT_EQ(send.to, &ports_[1]);
  EXPECT_EQ(send.envelope, (p2p::Envelope{11, 0, 5}));
  EXPECT_FALSE(route_send(2, 5, p2p::Mode::standard, send));
  const auto way = [&](std::int32_t source) {
    MessageDescriptor receive;
    receive.endpoint_comm = endpoint_comm;
    route_receive(source, p2p::kAnyTag, receive);
    EXPECT_EQ(receive.envelope, (p2p::Envelope{10, source, p2p::kAnyTag}));
    return receive.carrier;
  };
  EXPECT_EQ(way(1), Carrier::space);
  EXPECT_EQ(way(2), Carrier::by_native);
  EXPECT_EQ(way(p2p::kAnySource), Carrier::either);
  endpoint_comm->close({});
}

TEST_F(EndpointCommTest, NeedsTwoRanksOfTheSpace) {
  EXPECT_EQ(make(1), nullptr);
  EndpointComm* whole = make(4);
  ASSERT_NE(whole, nullptr);
  EXPECT_FALSE(whole->mixed);
  MessageDescriptor receive;
  receive.endpoint_comm = whole;
  route_receive(p2p::kAnySource, 0, receive);
  EXPECT_EQ(receive.carrier, Carrier::space);
  whole->close({});
}

// 0 and 1 share a space, a link leads to 2, and 3 is the MPI library's: or all but 0 are reached by the link.
TEST_F(EndpointCommTest, ReachesRanksByALink) {
  std::vector<EndpointComm::Peer> peers{{&ports_[0], 10}, {&ports_[1], 11}, {nullptr, 12, p2p::LinkPeer{5}}, {}};
  EndpointComm* endpoint_comm = EndpointComm::make(native_, kCommunicator, 0, 10, peers);
  ASSERT_NE(endpoint_comm, nullptr);
  EXPECT_TRUE(endpoint_comm->mixed && endpoint_comm->wide && endpoint_comm->linked(2) && !endpoint_comm->outside(2) &&
              endpoint_comm->outside(3));
  MessageDescriptor send;
  send.endpoint_comm = endpoint_comm;
  EXPECT_FALSE(route_send(2, 5, p2p::Mode::buffered, send));
  EXPECT_FALSE(route_send_by_link(3, 5, p2p::Mode::buffered, send) || send.is_send());
  ASSERT_TRUE(route_send_by_link(2, 5, p2p::Mode::buffered, send));
  EXPECT_TRUE(send.is_send());
  EXPECT_EQ(send.peer, p2p::LinkPeer{5});
  EXPECT_EQ(send.envelope, (p2p::Envelope{12, 0, 5}));
  EXPECT_EQ(copy_of(send).peer, send.peer);
  const auto way = [](EndpointComm* in, std::int32_t source) {
    MessageDescriptor receive;
    receive.endpoint_comm = in;
    route_receive(source, 0, receive);
    return receive.carrier;
  };
  EXPECT_EQ(way(endpoint_comm, 1), Carrier::space);
  EXPECT_EQ(way(endpoint_comm, 2), Carrier::link);
  EXPECT_EQ(way(endpoint_comm, 3), Carrier::by_native);
  EXPECT_EQ(way(endpoint_comm, p2p::kAnySource), Carrier::either);
  peers = {{&ports_[0], 10}, {nullptr, 12, p2p::LinkPeer{1}}};
  EndpointComm* alone = EndpointComm::make(native_, kCommunicator, 0, 10, peers);
  ASSERT_NE(alone, nullptr);
  EXPECT_TRUE(!alone->mixed && alone->wide);
  EXPECT_EQ(way(alone, p2p::kAnySource), Carrier::link);
  endpoint_comm->close({});
  alone->close({});
}

// The program frees the handle while a request is open: the MPI library's communicator is kept for it, or is gone at
// once.
TEST_F(EndpointCommTest, LivesUntilTheLastRequestOfAFreedCommunicator) {
  for (const bool kept : {true, false}) {
    native_.freed_communicators.clear();
    EndpointComm* endpoint_comm = make(2);
    EXPECT_TRUE(endpoint_comm->unused());
    endpoint_comm->retain();
    EXPECT_FALSE(endpoint_comm->unused() || endpoint_comm->closed());
    endpoint_comm->close({.kept = kept, .handler = 5});
    EXPECT_EQ(endpoint_comm->gone(), !kept);
    EXPECT_TRUE(endpoint_comm->closed());
    EXPECT_EQ(endpoint_comm->freed().handler, 5U);
    EXPECT_EQ(native_.unused_endpoint_comms, kept ? 0 : 1);
    endpoint_comm->leave_behind();
    endpoint_comm->release();
    EXPECT_EQ(native_.unused_endpoint_comms, kept ? 1 : 2);
    EXPECT_EQ(native_.freed_communicators.contains(kCommunicator), kept);
    endpoint_comm->drop();
  }
}

// The same with no request open, but for one that was left behind.
TEST_F(EndpointCommTest, WhatIsLeftBehindKeepsTheObjectOnly) {
  EndpointComm* endpoint_comm = make(2);
  endpoint_comm->leave_behind();
  EXPECT_TRUE(endpoint_comm->unused());
  EXPECT_FALSE(endpoint_comm->none_left_behind());
  endpoint_comm->close({});
  EXPECT_EQ(native_.unused_endpoint_comms, 1);
  endpoint_comm->drop();
}

}  // namespace
}  // namespace urakata::messages::test
