// SPDX-License-Identifier: BSD-3-Clause
#include "job/wiring.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "meeting.hpp"
#include "transport/wire/wire.hpp"
#include "tune/transport_choice.hpp"

namespace urakata::job::wiring_test {
namespace {

using simulated::Meeting;

constexpr std::uint64_t kTimeout = 60'000'000'000;

Address four(std::uint32_t number) {
  Address address{.family = AF_INET, .bytes = {}};
  const std::uint32_t wire = htonl(number);
  std::memcpy(address.bytes.data(), &wire, sizeof wire);
  return address;
}
const Address kHere = four(INADDR_LOOPBACK);
// Of this machine and refused by the kernel, since it is nobody's: a connection to it fails at once.
const Address kNowhere = four(0xffffffffU);

// A job whose rank r is on node nodes[r], which says `facts[r]` of itself.
struct Wired {
  Wired(std::vector<std::int32_t> on, const std::vector<WireFacts>& facts)
      : nodes(std::move(on)), choices(nodes.size()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      failures.push_back(std::make_unique<transport::Failures>(16));
      wirings.push_back(std::make_unique<Wiring>());
    }
    Meeting meeting(nodes.size());
    meeting.run([&](Bootstrap& member) {
      const std::size_t rank = member.rank();
      wirings[rank]->set_up(member, nodes, facts[rank], *failures[rank], kTimeout, [&](const Network& found) {
        choices[rank] = tune::TransportChoice(found);
        if (rank == 0) one_way = found.one_way;
        return choices[rank].peers(static_cast<std::int32_t>(rank));
      });
    });
  }

  // Do both sides of every pair know the same, and go by it? The pairs (lower, higher) by wire.
  std::vector<std::pair<int, int>> pairs() const {
    std::vector<std::pair<int, int>> found;
    const auto ranks = static_cast<int>(nodes.size());
    for (int a = 0; a < ranks; ++a) {
      for (int b = a + 1; b < ranks; ++b) {
        const bool by_wire = choices[0].by_wire(a, b);
        if (by_wire) found.emplace_back(a, b);
        for (const auto& one : choices) EXPECT_EQ(one.by_wire(a, b), by_wire) << a << " " << b;
        for (const auto& [here, there] : {std::pair(a, b), std::pair(b, a)}) {
          const transport::Wire* wire = wirings[static_cast<std::size_t>(here)]->wire();
          EXPECT_EQ(wire != nullptr && wire->reaches(there), by_wire) << here << " " << there;
        }
      }
    }
    for (const auto& one : choices) EXPECT_EQ(one.why(), choices[0].why());
    return found;
  }

  std::vector<std::int32_t> nodes;
  std::vector<std::unique_ptr<transport::Failures>> failures;
  std::vector<std::unique_ptr<Wiring>> wirings;
  std::vector<tune::TransportChoice> choices;
  std::vector<bool> one_way;
};

WireFacts at(Address address) { return {.addresses = {address}}; }

using Pairs = std::vector<std::pair<int, int>>;

// Two ranks on each of two nodes: the four pairs between them.
TEST(Wiring, RanksOfDifferentNodesTalkByWire) {
  const Wired job({0, 0, 2, 2}, std::vector<WireFacts>(4, at(kHere)));
  EXPECT_EQ(job.pairs(), (Pairs{{0, 2}, {0, 3}, {1, 2}, {1, 3}}));
  EXPECT_TRUE(job.choices[0].all());
  EXPECT_TRUE(job.choices[0].covers(std::vector{0, 1, 2, 3}));
}

TEST(Wiring, OneRankWithoutLeavesItToTheOthers) {
  std::vector<WireFacts> facts(4, at(kHere));
  facts[2].obstacle = WireFacts::Obstacle::descriptors;
  const Wired job({0, 0, 2, 2}, facts);
  EXPECT_EQ(job.pairs(), (Pairs{{0, 3}, {1, 3}}));
  EXPECT_FALSE(job.choices[1].covers(std::vector{0, 1, 2, 3}));
  EXPECT_TRUE(job.choices[1].covers(std::vector{0, 1, 3}));
  EXPECT_EQ(job.wirings[2]->wire(), nullptr);
}

// Nobody reaches the node of rank 2, which itself reaches all.
TEST(Wiring, ANodeThatCannotBeReachedGoesByTheLibrary) {
  const Wired job({0, 1, 2}, {at(kHere), at(kHere), at(kNowhere)});
  EXPECT_EQ(job.pairs(), (Pairs{{0, 1}}));
  EXPECT_EQ(job.one_way, (std::vector<bool>{false, false, false, false, false, false, true, true, false}));
  EXPECT_FALSE(job.choices[0].all());
  EXPECT_FALSE(job.choices[0].covers(std::vector{0, 1, 2}));
  EXPECT_TRUE(job.choices[2].covers(std::vector{0, 1}));
  EXPECT_NE(job.choices[0].why().find("1 of 3 pairs"), std::string::npos) << job.choices[0].why();
}

TEST(Wiring, TheSecondAddressIsTakenWhereTheFirstLeadsNowhere) {
  const Wired job({0, 1}, {at(kHere), {.addresses = {kNowhere, kHere}}});
  EXPECT_EQ(job.pairs(), (Pairs{{0, 1}}));
}

// Two of three nodes share a better network: they use it, and the wire with the third.
TEST(Wiring, OnlyNodesThatShareABetterNetworkUseIt) {
  std::vector<WireFacts> facts(3, at(kHere));
  facts[0].fast = facts[2].fast = true;
  const Wired job({0, 1, 2}, facts);
  EXPECT_EQ(job.pairs(), (Pairs{{0, 1}, {1, 2}}));
}

TEST(Wiring, WhereNobodyIsReachedThereIsNoWire) {
  const Wired job({0, 1, 2}, std::vector<WireFacts>(3, at(kNowhere)));
  EXPECT_TRUE(job.pairs().empty());
  EXPECT_NE(job.choices[0].why().find("ranks 0 and 1 do not reach each other"), std::string::npos)
      << job.choices[0].why();
}

// 65 nodes are more than are tried pair by pair: one that cannot be reached leaves all to the MPI library.
TEST(Wiring, OfManyNodesAFewStandForAll) {
  constexpr std::size_t kNodes = Wiring::kAllPairs + 1;
  std::vector<std::int32_t> nodes(kNodes);
  std::iota(nodes.begin(), nodes.end(), 0);
  std::vector<WireFacts> facts(kNodes, at(kHere));
  {
    const Wired job(nodes, facts);
    EXPECT_EQ(job.pairs().size(), kNodes * (kNodes - 1) / 2);
  }
  facts[7] = at(kNowhere);
  const Wired job(nodes, facts);
  EXPECT_TRUE(job.pairs().empty());
}

}  // namespace
}  // namespace urakata::job::wiring_test
