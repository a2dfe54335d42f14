// SPDX-License-Identifier: BSD-3-Clause
// golden/transports.txt has what is chosen from every combination of facts of three ranks, one a line:
//   the nodes of the ranks, wire: which ranks can talk by it, better: which nodes have a better network, joined: which
//   pairs of nodes (0-1, 0-2, 1-2) reach each other
//   | the pairs of ranks that talk by wire; any of all pairs, all, all of the job's communicator
//   | why | the warning where wire was asked for
#include "tune/transport_choice.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "tune/decision.hpp"

namespace urakata::tune::transport_choice_test {
namespace {

struct Facts {
  std::vector<std::int32_t> node;
  unsigned wire = 0;    // bit r: of rank r
  unsigned better = 0;  // bit n: of node n
  unsigned joined = 0;  // bit i: of the i-th pair of nodes

  std::size_t nodes() const { return static_cast<std::size_t>(node.back()) + 1; }
  std::size_t pairs() const { return nodes() * (nodes() - 1) / 2; }
};

bool bit(unsigned bits, std::size_t at) { return (bits >> at & 1U) != 0; }

std::string bits(unsigned set, std::size_t count) {
  std::string text;
  for (std::size_t at = 0; at < count; ++at) text += bit(set, at) ? '1' : '0';
  return text;
}

Network network_of(const Facts& facts) {
  Network network;
  network.node = facts.node;
  network.nodes = facts.nodes();
  network.obstacle = "its limit of descriptors is too low (ulimit -n)";
  for (std::size_t rank = 0; rank < facts.node.size(); ++rank) {
    network.wire.push_back(bit(facts.wire, rank));
    network.better.push_back(bit(facts.better, static_cast<std::size_t>(facts.node[rank])));
  }
  network.joined.resize(network.nodes * network.nodes);
  std::size_t pair = 0;
  for (std::size_t one = 0; one < network.nodes; ++one) {
    for (std::size_t other = one + 1; other < network.nodes; ++other, ++pair) {
      network.joined[one * network.nodes + other] = network.joined[other * network.nodes + one] =
          bit(facts.joined, pair);
    }
  }
  return network;
}

// Whom nobody can talk to by wire nobody can reach.
bool possible(const Network& network) {
  for (std::size_t node = 0; node < network.nodes; ++node) {
    bool wire = false;
    for (std::size_t rank = 0; rank < network.node.size(); ++rank) {
      wire = wire || (network.wire[rank] && static_cast<std::size_t>(network.node[rank]) == node);
    }
    for (std::size_t other = 0; other < network.nodes; ++other) {
      if (!wire && network.joined[node * network.nodes + other]) return false;
    }
  }
  return true;
}

std::string line(const Facts& facts, const TransportChoice& choice) {
  const auto ranks = static_cast<std::int32_t>(facts.node.size());
  std::string made;
  for (const std::int32_t node : facts.node) made += std::to_string(node);
  made += " wire " + bits(facts.wire, facts.node.size()) + " better " + bits(facts.better, facts.nodes()) + " joined " +
          bits(facts.joined, facts.pairs()) + " |";
  for (std::int32_t one = 0; one < ranks; ++one) {
    for (std::int32_t other = one + 1; other < ranks; ++other) {
      if (choice.by_wire(one, other)) made += " " + std::to_string(one) + "-" + std::to_string(other);
    }
  }
  std::vector<std::int32_t> all(facts.node.size());
  std::iota(all.begin(), all.end(), 0);
  const std::string warning = choice.warning(TransportWish::wire);
  return made + (choice.any() ? "; any" : "; none") + (choice.all() ? " all" : "") +
         (choice.covers(all) ? " covers" : "") + " | " + choice.why() + (warning.empty() ? " |" : " | " + warning);
}

TEST(TransportChoice, OfEveryCombinationOfFactsIsAsWrittenDown) {
  std::vector<Facts> all;
  for (unsigned wire = 0; wire < 8; ++wire) {
    for (unsigned better = 0; better < 4; ++better) {
      for (unsigned joined = 0; joined < 2; ++joined) all.push_back({{0, 0, 1}, wire, better, joined});
    }
  }
  for (const unsigned wire : {7U, 5U}) {
    for (unsigned better = 0; better < 8; ++better) {
      for (unsigned joined = 0; joined < 8; ++joined) all.push_back({{0, 1, 2}, wire, better, joined});
    }
  }
  std::ifstream golden(GOLDEN_FOLDER "/transports.txt");
  ASSERT_TRUE(golden.good());
  std::string expected;
  for (const Facts& facts : all) {
    const Network network = network_of(facts);
    if (!possible(network)) continue;
    const TransportChoice choice(network);
    ASSERT_TRUE(std::getline(golden, expected));
    EXPECT_EQ(line(facts, choice), expected);
    // Both sides of a pair come to the same, and each rank's list is that of its pairs.
    for (std::int32_t one = 0; one < 3; ++one) {
      const std::vector<bool> peers = choice.peers(one);
      EXPECT_EQ(peers.empty(), !choice.any());
      for (std::int32_t other = 0; other < 3; ++other) {
        EXPECT_EQ(choice.by_wire(one, other), choice.by_wire(other, one));
        EXPECT_EQ(!peers.empty() && peers[static_cast<std::size_t>(other)], choice.by_wire(one, other));
      }
    }
    EXPECT_EQ(choice.warning(TransportWish::automatic), "");
    EXPECT_EQ(choice.warning(TransportWish::native), "");
  }
  EXPECT_FALSE(std::getline(golden, expected));
}

TEST(TransportChoice, WhereNothingIsKnownTheLibraryHasAll) {
  Network one_node;
  one_node.nothing = "all ranks are on one node";
  one_node.node = {0, 0};
  one_node.nodes = 1;
  const TransportChoice choice(one_node);
  EXPECT_EQ(choice.why(), "all ranks are on one node");
  EXPECT_EQ(choice.warning(TransportWish::wire),
            "no transport wire: all ranks are on one node; the MPI library carries all messages");
  EXPECT_FALSE(choice.any() || choice.all() || choice.by_wire(0, 1));
  EXPECT_FALSE(choice.covers(std::vector<std::int32_t>{0, 1}));
  EXPECT_TRUE(choice.peers(0).empty());
}

// The user has asked for that interface, so a line says that there is none, also where transport is `auto`.
TEST(TransportChoice, AnInterfaceThatIsMissingIsToldWithoutAskingForTheWire) {
  Network network = network_of({{0, 1, 2}, 0U, 0U, 0U});
  network.obstacle = "its node has no network interface eth9 (WIRE_INTERFACE)";
  EXPECT_EQ(TransportChoice(network).warning(TransportWish::automatic), "");
  network.misnamed = true;
  EXPECT_EQ(
      TransportChoice(network).warning(TransportWish::automatic),
      "no transport wire: rank 0 has none: its node has no network interface eth9 (WIRE_INTERFACE); the MPI library "
      "carries all messages");
  EXPECT_EQ(TransportChoice(network).warning(TransportWish::native), "");
}

TEST(TransportChoice, TheOptionSaysWhatARankMayDo) {
  EXPECT_FALSE(transport_terms(TransportWish::native).wire);
  EXPECT_TRUE(transport_terms(TransportWish::automatic).better);
  EXPECT_TRUE(transport_terms(TransportWish::wire).wire && !transport_terms(TransportWish::wire).better);
}

TEST(TransportChoice, TheMediumOfACommunicator) {
  for (const bool crowded : {false, true}) {
    for (const bool by_wire : {false, true}) {
      EXPECT_EQ(medium_of(true, crowded, by_wire), crowded ? Medium::crowded : Medium::node);
      EXPECT_EQ(medium_of(false, crowded, by_wire), by_wire ? Medium::wire : Medium::native);
    }
  }
}

// What each of two sites has within it does not join them.
TEST(TransportChoice, NodesAtDifferentSitesShareNoBetterNetwork) {
  const Network network = network_of({.node = {0, 1, 2, 3}, .wire = 0xf, .better = 0xf, .joined = 0x3f});
  EXPECT_FALSE(TransportChoice(network).any());
  const std::vector<std::int32_t> sites{0, 0, 1, 1};
  const TransportChoice choice(network, sites);
  for (std::int32_t one = 0; one < 4; ++one) {
    for (std::int32_t other = 0; other < 4; ++other) {
      EXPECT_EQ(choice.at_one_site(one, other), one / 2 == other / 2);
      EXPECT_EQ(choice.by_wire(one, other), one / 2 != other / 2) << one << " " << other;
    }
  }
  EXPECT_EQ(
      choice.why(),
      "4 of 6 pairs of nodes; the nodes of ranks 0 and 1 have a network that the MPI library drives better than TCP");
}

}  // namespace
}  // namespace urakata::tune::transport_choice_test
