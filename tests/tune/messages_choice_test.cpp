// SPDX-License-Identifier: BSD-3-Clause
// golden/messages.txt has who carries the program's own messages of three ranks, one case a line:
//   the nodes of the ranks, wire: which ranks can talk by it, joined: which pairs of nodes (0-1, 0-2, 1-2) reach each
//   other, asked: of each rank 0, 1 or a (auto), then what else ranks say of themselves, and how many sites there are
//   | of each rank w (wire) or h (host) | why, of each rank that says something else than the one before it
#include "tune/messages_choice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace urakata::tune::messages_choice_test {
namespace {

struct Case {
  std::vector<std::int32_t> node = {0, 1, 2};
  unsigned wire = 7;    // bit r: of rank r
  unsigned joined = 7;  // bit i: of the i-th pair of nodes
  std::string asked = "aaa";
  std::string space = "";   // the ranks of which it is so, "02"
  std::string better = "";  // likewise, and so on
  std::string cramped = "";
  std::string stuck = "";
  std::string crowded = "";
  std::string stripes = "";
  std::size_t sites = 1;
};

std::size_t nodes_of(const Case& one) { return static_cast<std::size_t>(one.node.back()) + 1; }
bool bit(unsigned bits, std::size_t at) { return (bits >> at & 1U) != 0; }
bool has(const std::string& ranks, std::size_t rank) { return ranks.find(std::to_string(rank)) != std::string::npos; }

TransportChoice transports_of(const Case& one) {
  Network network;
  network.node = one.node;
  network.nodes = nodes_of(one);
  network.obstacle = "the MPI library was asked for";
  network.better.assign(one.node.size(), false);  // TRANSPORT wire: it does not count
  for (std::size_t rank = 0; rank < one.node.size(); ++rank) network.wire.push_back(bit(one.wire, rank));
  network.joined.assign(network.nodes * network.nodes, false);
  std::size_t pair = 0;
  for (std::size_t a = 0; a < network.nodes; ++a) {
    for (std::size_t b = a + 1; b < network.nodes; ++b, ++pair) {
      network.joined[a * network.nodes + b] = network.joined[b * network.nodes + a] = bit(one.joined, pair);
    }
  }
  return TransportChoice(network);
}

std::vector<MessagesFacts> facts_of(const Case& one) {
  std::vector<MessagesFacts> facts;
  for (std::size_t rank = 0; rank < one.node.size(); ++rank) {
    facts.push_back({.asked = one.asked[rank] == '0'   ? MessagesWish::native
                              : one.asked[rank] == '1' ? MessagesWish::wire
                                                       : MessagesWish::automatic,
                     .space = has(one.space, rank),
                     .better = has(one.better, rank),
                     .room = !has(one.cramped, rank),
                     .moves = !has(one.stuck, rank),
                     .stripes = has(one.stripes, rank),
                     .shares_cores = has(one.crowded, rank)});
  }
  return facts;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char first : {'0', '1', 'a'}) {
    for (const char second : {'0', '1', 'a'}) {
      for (const char third : {'0', '1', 'a'}) all.push_back({.asked = {first, second, third}});
    }
  }
  for (const char* asked : {"aaa", "111", "a1a"}) {
    for (unsigned joined = 0; joined < 7; ++joined) all.push_back({.joined = joined, .asked = asked});
    all.push_back({.wire = 5, .joined = 2, .asked = asked});
    all.push_back({.node = {0, 0, 1}, .joined = 1, .asked = asked});
    all.push_back({.node = {0, 0, 1}, .wire = 5, .joined = 1, .asked = asked});
    all.push_back({.asked = asked, .space = "012"});
    all.push_back({.asked = asked, .space = "1"});
    all.push_back({.asked = asked, .better = "1"});
    all.push_back({.asked = asked, .better = "12"});
    all.push_back({.node = {0, 0, 1}, .joined = 1, .asked = asked, .better = "01"});
    all.push_back({.node = {0, 0, 1}, .joined = 1, .asked = asked, .better = "12"});
    all.push_back({.asked = asked, .cramped = "2"});
    all.push_back({.asked = asked, .stuck = "1"});
    all.push_back({.asked = asked, .crowded = "1"});
    all.push_back({.asked = asked, .sites = 2});
    all.push_back({.asked = asked, .stripes = "02", .sites = 2});
    all.push_back({.asked = asked, .stripes = "012", .sites = 2});
    all.push_back({.asked = asked, .space = "0", .better = "01", .cramped = "1", .stuck = "2", .sites = 3});
  }
  return all;
}

std::string line(const Case& one) {
  std::string text;
  for (const std::int32_t node : one.node) text += std::to_string(node);
  text += " wire ";
  for (std::size_t rank = 0; rank < one.node.size(); ++rank) text += bit(one.wire, rank) ? '1' : '0';
  text += " joined ";
  for (std::size_t pair = 0; pair < nodes_of(one) * (nodes_of(one) - 1) / 2; ++pair)
    text += bit(one.joined, pair) ? '1' : '0';
  text += " asked " + one.asked;
  const std::array<std::pair<const char*, const std::string*>, 6> flags = {{
      {" space ", &one.space},
      {" better ", &one.better},
      {" cramped ", &one.cramped},
      {" stuck ", &one.stuck},
      {" crowded ", &one.crowded},
      {" lanes ", &one.stripes},
  }};
  for (const auto& [name, ranks] : flags) {
    if (!ranks->empty()) text += name + *ranks;
  }
  if (one.sites != 1) text += " sites " + std::to_string(one.sites);
  text += " | ";
  std::string whys;
  std::string last;
  for (std::size_t rank = 0; rank < one.node.size(); ++rank) {
    const MessagesChoice choice =
        choose_messages(facts_of(one), static_cast<std::int32_t>(rank), transports_of(one), one.sites);
    text += choice.by_wire ? 'w' : 'h';
    if (choice.why != last) whys += " | " + choice.why;
    last = choice.why;
  }
  return text + whys;
}

TEST(MessagesChoice, OfEachCaseIsAsWrittenDown) {
  std::ifstream golden(GOLDEN_FOLDER "/messages.txt");
  ASSERT_TRUE(golden.good());
  std::string expected;
  for (const Case& one : cases()) {
    ASSERT_TRUE(std::getline(golden, expected)) << line(one);
    EXPECT_EQ(line(one), expected);
  }
  EXPECT_FALSE(std::getline(golden, expected));
}

TEST(MessagesChoice, LanesOnlyWhereAllThatMayHaveALinkHaveThem) {
  const Case one{.asked = "110"};
  std::vector<MessagesFacts> facts = facts_of(one);
  const auto stripes = [&] { return choose_messages(facts, 0, transports_of(one), 1).stripes; };
  EXPECT_FALSE(stripes());
  facts[0].stripes = true;
  EXPECT_FALSE(stripes());
  facts[1].stripes = true;  // the third leaves its messages to the MPI library
  EXPECT_TRUE(stripes());
}

TEST(ConnectionsChoice, OneWhereSeveralCannotBe) {
  for (const bool stripes : {false, true}) {
    for (const bool room : {false, true}) {
      EXPECT_EQ(choose_connections(1, stripes, room).connections, 1U);
      EXPECT_EQ(choose_connections(1, stripes, room).why, "");
      EXPECT_EQ(choose_connections(0, stripes, room).connections, stripes && room ? 0U : 1U);
      EXPECT_EQ(choose_connections(0, stripes, room).why.empty(), stripes && room);
      EXPECT_EQ(choose_connections(4, stripes, room).connections, stripes ? 4U : 1U);
      EXPECT_EQ(choose_connections(4, stripes, room).why.empty(), stripes);
    }
  }
}

// A rank that is said to go by wire has a peer that is said so, too, and that it reaches.
TEST(MessagesChoice, NobodyGoesByWireAlone) {
  for (const Case& one : cases()) {
    const TransportChoice transports = transports_of(one);
    const auto by_wire = [&](std::size_t rank) {
      return choose_messages(facts_of(one), static_cast<std::int32_t>(rank), transports, one.sites).by_wire;
    };
    for (std::size_t rank = 0; rank < one.node.size(); ++rank) {
      bool reaches = false;
      for (std::size_t other = 0; other < one.node.size(); ++other) {
        reaches = reaches || (transports.by_wire(static_cast<std::int32_t>(rank), static_cast<std::int32_t>(other)) &&
                              by_wire(other));
      }
      EXPECT_EQ(by_wire(rank), by_wire(rank) && reaches) << line(one);
    }
  }
}

// All of four nodes have one, two at each of two sites; by wire, as TRANSPORT wire says, also within a site.
TEST(MessagesChoice, ABetterNetworkCountsWithinASite) {
  Network network;
  network.node = {0, 1, 2, 3};
  network.nodes = 4;
  network.wire.assign(4, true);
  network.joined.assign(16, true);
  const std::vector<MessagesFacts> facts(
      4, {.asked = MessagesWish::automatic, .better = true, .room = true, .moves = true, .stripes = true});
  const auto chosen = [&](bool better, std::vector<std::int32_t> sites) {
    network.better.assign(4, better);
    return choose_messages(facts, 0, TransportChoice(network, sites), 2).why;
  };
  EXPECT_NE(chosen(false, {0, 0, 1, 1}).find("better than TCP"), std::string::npos);
  EXPECT_EQ(chosen(false, {0, 1, 2, 3}).find("better than TCP"), std::string::npos);
}

TEST(MessagesChoice, WhereAllRanksAreOnOneNodeThereIsNothingToChoose) {
  Network one_node;
  one_node.nothing = "all ranks are on one node";
  one_node.node = {0, 0};
  one_node.nodes = 1;
  for (const MessagesWish asked : {MessagesWish::wire, MessagesWish::automatic}) {
    const std::vector<MessagesFacts> facts(2, {.asked = asked});
    const MessagesChoice choice = choose_messages(facts, 1, TransportChoice(one_node), 1);
    EXPECT_FALSE(choice.by_wire);
    EXPECT_EQ(choice.why, "through the MPI library: all ranks are on one node");
  }
}

TEST(MessagesChoice, TheRuleNamesEachWish) {
  EXPECT_TRUE(messages_rule(MessagesWish::native).starts_with("through the MPI library"));
  EXPECT_TRUE(messages_rule(MessagesWish::wire).starts_with("by transport wire to all"));
  EXPECT_TRUE(messages_rule(MessagesWish::automatic).starts_with("by transport wire where"));
}

}  // namespace
}  // namespace urakata::tune::messages_choice_test
