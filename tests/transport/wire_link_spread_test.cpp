// SPDX-License-Identifier: BSD-3-Clause
// The link between ranks at one site whose long payload goes over several connections: every message arrives whole and
// once, also when one of them is lost.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdint>
#include <vector>

#include "link_traffic.hpp"
#include "transport/link/wire_link.hpp"

namespace urakata::transport::wire_link_spread_test {
namespace {

using namespace test;

class Spreads : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Spreads, EveryMessageArrivesOnceAndInOrder) {
  std::vector<Node> nodes = job(3, {.connections = GetParam()}, p2p::Callers::one, {0, 0, 0});
  exchange(nodes);
  for (const Node& node : nodes) EXPECT_EQ(node.stripes->traffic().empty(), GetParam() == 1);
}
INSTANTIATE_TEST_SUITE_P(WireLinkSpread, Spreads, ::testing::Values(1, 2, 4));

TEST(WireLinkSpread, RanksHereAndAtAnotherSite) {
  std::vector<Node> nodes = job(3, {.connections = 3}, p2p::Callers::one, {0, 0, 1});
  exchange(nodes);
  for (const Node& node : nodes) EXPECT_EQ(node.stripes->traffic().size(), 2U);
}

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
  // Until they are there payload goes as ever.
  void make_stripes() {
    while (nodes_[0].stripes->traffic(1).bytes == 0) send_and_receive(WireLink::kLeastSpread);
  }
};

TEST_F(WireLinkSpreadPair, OnlyLongPayloadIsSpread) {
  make_stripes();
  const std::uint64_t before = nodes_[0].stripes->traffic(1).bytes;
  send_and_receive(WireLink::kLeastSpread - 4);
  EXPECT_EQ(nodes_[0].stripes->traffic(1).bytes, before);
  send_and_receive(WireLink::kLeastSpread);
  send_and_receive(3 * LinkStripes::kSlice + 4000);
  EXPECT_EQ(nodes_[0].stripes->traffic(1).bytes - before, WireLink::kLeastSpread + 3 * LinkStripes::kSlice + 4000);
  EXPECT_EQ(nodes_[0].stripes->traffic(1).stripes, 4U);
}

TEST_F(WireLinkSpreadPair, MoreThanMayBeOpenAtATime) {
  make_stripes();
  constexpr std::int32_t kMessages = 9;
  std::vector<std::vector<std::uint32_t>> payloads, got(kMessages);
  std::vector<Request*> sends;
  for (std::int32_t i = 0; i < kMessages; ++i) {
    payloads.push_back(numbers(WireLink::kLeastSpread + static_cast<std::uint64_t>(i) * 300'000, 7));
  }
  for (std::int32_t i = 0; i < kMessages; ++i) {
    const auto at = static_cast<std::size_t>(i);
    sends.push_back(one().send(LinkPeer{1}, {1, 0, i}, buffer(payloads[at]), Mode::standard));
  }
  for (std::int32_t i = kMessages; i-- > 0;) {
    const auto at = static_cast<std::size_t>(i);
    got[at].resize(payloads[at].size());
    finish(other(), &other().receive({1, 0, i}, buffer(got[at])));
    EXPECT_TRUE(got[at] == payloads[at]);
  }
  for (Request* each : sends) finish(one(), each);
}

// Its frames come by another connection than its pieces.
TEST_F(WireLinkSpreadPair, PiecesThatComeBeforeTheirWord) {
  make_stripes();
  std::vector<std::uint32_t> payload = numbers(2UL << 20, 5), got(payload.size());
  const std::uint64_t before = nodes_[0].stripes->traffic(1).acked;
  Request* const sent = one().send(LinkPeer{1}, {1, 0, 0}, buffer(payload), Mode::standard);
  Request& received = other().receive({1, 0, 0}, buffer(got));
  for (int i = 0; i < 100; ++i) other().progress();  // its CTS is on its way
  while (nodes_[0].stripes->traffic(1).acked < before + (2UL << 20)) {
    one().progress();
    nodes_[1].stripes->settled();
  }
  int steps = 0;
  for (; steps < 1000 && !received.done(); ++steps) other().progress();
  EXPECT_LT(steps, 1000);
  finish(other(), &received);
  finish(one(), sent);
  EXPECT_TRUE(got == payload);
}

TEST_F(WireLinkSpreadPair, TheOthersTakeOverFromOneThatIsLost) {
  make_stripes();
  const std::vector<int> sockets = sockets_to(*nodes_[1].wire);
  ASSERT_GE(sockets.size(), 6U);  // frames in order, bulk, and stripes
  std::vector<std::uint32_t> payload = numbers(64UL << 20, 5), got(payload.size());
  Request* const sent = one().send(LinkPeer{1}, {1, 0, 0}, buffer(payload), Mode::standard);
  Request& received = other().receive({1, 0, 0}, buffer(got));
  while (nodes_[0].stripes->traffic(1).bytes < 16UL << 20) step();  // of 64 MiB
  shutdown(sockets.back(), SHUT_RDWR);
  finish(other(), &received);
  finish(one(), sent);
  EXPECT_TRUE(got == payload);
  EXPECT_GE(nodes_[0].stripes->traffic(1).lost, 1U);
}

TEST_F(WireLinkSpreadPair, APeerThatEndsIsAnErrorOnWhatIsUnderWay) {
  make_stripes();
  const std::uint64_t before = nodes_[0].stripes->traffic(1).bytes;
  std::vector<std::uint32_t> payload = numbers(64UL << 20, 3), got(payload.size());
  Request* const sent = one().send(LinkPeer{1}, {1, 0, 0}, buffer(payload), Mode::standard);
  other().receive({1, 0, 0}, buffer(got));
  while (nodes_[0].stripes->traffic(1).bytes == before) step();
  nodes_.pop_back();
  while (!sent->done()) one().progress();
  EXPECT_EQ(sent->result.outcome, Outcome::failed);
  one().release(*sent);
}

}  // namespace
}  // namespace urakata::transport::wire_link_spread_test
