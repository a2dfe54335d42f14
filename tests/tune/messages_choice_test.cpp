#include "tune/messages_choice.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace urakata::tune {
namespace {

// Three nodes of a rank each, of which as many pairs reach each other.
TransportChoice joined(std::size_t pairs) {
  Network network;
  network.node = {0, 1, 2};
  network.nodes = 3;
  network.wire.assign(3, true);
  network.better.assign(3, false);
  network.joined.assign(9, false);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const std::size_t one = pair == 2 ? 1 : 0;
    const std::size_t other = pair == 0 ? 1 : 2;
    network.joined[one * 3 + other] = network.joined[other * 3 + one] = true;
  }
  return TransportChoice(network);
}

TEST(MessagesChoice, IsAsTheTableSays) {
  struct Row {
    MessagesWish asked;
    bool space;
    std::size_t pairs;
    bool by_wire;
    std::string_view why;  // how it begins
  };
  const std::vector<Row> table = {
      {MessagesWish::host, false, 3, false, "through the host, as option WIRE_MESSAGES says"},
      {MessagesWish::host, true, 0, false, "through the host, as option WIRE_MESSAGES says"},
      {MessagesWish::wire, false, 3, true, "by wire to all ranks that it reaches"},
      {MessagesWish::wire, true, 3, true, "by wire to all ranks that it reaches"},
      {MessagesWish::wire, false, 1, true, "by wire to all ranks that it reaches"},
      {MessagesWish::wire, false, 0, false, "through the host: the nodes of ranks 0 and 1"},
      {MessagesWish::automatic, false, 3, true, "by wire: TCP is the only network between the nodes"},
      {MessagesWish::automatic, true, 3, false, "through the host, since inside a space"},
      {MessagesWish::automatic, false, 2, false, "through the host, since wire does not join all nodes: 2 of 3"},
      {MessagesWish::automatic, true, 1, false, "through the host, since wire does not join all nodes: 1 of 3"},
      {MessagesWish::automatic, false, 0, false, "through the host: the nodes of ranks 0 and 1"},
  };
  for (const Row& row : table) {
    const MessagesChoice choice = choose_messages(row.asked, row.space, joined(row.pairs));
    EXPECT_EQ(choice.by_wire, row.by_wire) << row.why;
    EXPECT_TRUE(std::string_view(choice.why).starts_with(row.why)) << choice.why;
  }
}

TEST(MessagesChoice, WhereAllRanksAreOnOneNodeThereIsNothingToChoose) {
  const MessagesChoice choice = choose_messages(MessagesWish::automatic, false, TransportChoice());
  EXPECT_FALSE(choice.by_wire);
}

TEST(MessagesChoice, TheRuleNamesEachWish) {
  EXPECT_TRUE(messages_rule(MessagesWish::host).starts_with("through the host"));
  EXPECT_TRUE(messages_rule(MessagesWish::wire).starts_with("by transport wire to all"));
  EXPECT_TRUE(messages_rule(MessagesWish::automatic).starts_with("by transport wire where"));
}

}  // namespace
}  // namespace urakata::tune
