// The link between ranks at one site whose long payload goes over several connections: every message arrives whole and
// once, also when one of them is lost.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdint>
#include <vector>

#include "link_traffic.hpp"
#include "transport/wire_link.hpp"

namespace urakata::transport {
namespace {

using namespace test;

class Spreads : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Spreads, EveryMessageArrivesOnceAndInOrder) {
  std::vector<Node> nodes = job(3, {.connections = GetParam()}, p2p::Callers::one, {0, 0, 0});
  exchange(nodes);
  for (const Node& node : nodes) EXPECT_EQ(node.lanes->traffic().empty(), GetParam() == 1);
}
INSTANTIATE_TEST_SUITE_P(WireLinkSpread, Spreads, ::testing::Values(1, 2, 4));

class WireLinkSpreadPair : public LinkPair {
 protected:
  WireLinkSpreadPair() : LinkPair(job(2, {.connections = 4}, p2p::Callers::one, {0, 0})) {}

  static std::vector<std::uint32_t> numbers(std::uint64_t bytes, std::uint32_t first) {
    std::vector<std::uint32_t> made(bytes / sizeof first);
    for (std::uint32_t& each : made) each = first++;
    return made;
  }
  void finish(Endpoint& of, Request* request) {
    if (request == nullptr) return;
    while (!request->done()) step();
    of.release(*request);
  }
  void send_and_receive(std::uint64_t bytes) {
    std::vector<std::uint32_t> payload = numbers(bytes, 11), got(payload.size());
    Request* const sent = one().send(LinkPeer{1}, {1, 0, 0}, buffer(payload), Mode::standard);
    finish(other(), &other().receive({1, 0, 0}, buffer(got)));
    finish(one(), sent);
    EXPECT_TRUE(got == payload);
  }
};

TEST_F(WireLinkSpreadPair, OnlyLongPayloadIsSpread) {
  send_and_receive(WireLink::kLeastSpread - 4);
  EXPECT_EQ(nodes_[0].lanes->traffic(1).bytes, 0U);
  send_and_receive(WireLink::kLeastSpread);
  send_and_receive(3 * LinkLanes::kSlice + 4000);
  EXPECT_EQ(nodes_[0].lanes->traffic(1).bytes, WireLink::kLeastSpread + 3 * LinkLanes::kSlice + 4000);
  EXPECT_EQ(nodes_[0].lanes->traffic(1).lanes, 4U);
}

TEST_F(WireLinkSpreadPair, TheOthersTakeOverFromOneThatIsLost) {
  send_and_receive(4UL << 20);
  const std::vector<int> sockets = sockets_to(*nodes_[1].wire);
  ASSERT_GE(sockets.size(), 6U);  // frames in order, bulk, and lanes
  std::vector<std::uint32_t> payload = numbers(64UL << 20, 5), got(payload.size());
  Request* const sent = one().send(LinkPeer{1}, {1, 0, 0}, buffer(payload), Mode::standard);
  Request& received = other().receive({1, 0, 0}, buffer(got));
  while (nodes_[0].lanes->traffic(1).bytes < 16UL << 20) step();
  shutdown(sockets.back(), SHUT_RDWR);
  finish(other(), &received);
  finish(one(), sent);
  EXPECT_TRUE(got == payload);
  EXPECT_GE(nodes_[0].lanes->traffic(1).lost, 1U);
}

TEST_F(WireLinkSpreadPair, APeerThatEndsIsAnErrorOnWhatIsUnderWay) {
  std::vector<std::uint32_t> payload = numbers(64UL << 20, 3), got(payload.size());
  Request* const sent = one().send(LinkPeer{1}, {1, 0, 0}, buffer(payload), Mode::standard);
  other().receive({1, 0, 0}, buffer(got));
  while (nodes_[0].lanes->traffic(1).bytes == 0) step();
  nodes_.pop_back();
  while (!sent->done()) one().progress();
  EXPECT_EQ(sent->result.outcome, Outcome::failed);
  one().release(*sent);
}

}  // namespace
}  // namespace urakata::transport
