// SPDX-License-Identifier: BSD-3-Clause
// golden/engines.txt has what is chosen from every combination of facts, one a line:
//   asked, all ranks on one node, progress threads of use within it, the MPI library's hook, its threads, where
//   progress threads are
//   | asks for threads; engines, best first, + where with the periodic thread; for ranks of one node; a progress thread
//   for the link
//   | why | warning | refusal
// "<reason>" stands for the placement's reason, "<refusal>" for what it refuses.
#include "tune/engine_choice.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tune/link_choice.hpp"

namespace urakata::tune::engine_choice_test {
namespace {

struct Placed {
  std::string_view name;
  Placement placement;
};

std::vector<Placed> placements() {
  const Topology node = *Topology::from_text("0/1/2/3");
  const auto place = [&](std::string_view mask, PlacementWish wish, std::string_view list) {
    return place_progress_threads(node, {.mask = *CpuSet::from_text(mask)}, wish, list);
  };
  return {{"spare", place("0-3", PlacementWish::automatic, "")},
          {"shared", place("0", PlacementWish::shared, "")},
          {"other-nodes", place("0", PlacementWish::automatic, "")},
          {"spare-refused", place("0", PlacementWish::spare, "")},
          {"listed", place("0", PlacementWish::automatic, "3")},
          {"list-refused", place("0", PlacementWish::automatic, "9")}};
}

std::string with(std::string text, const std::string& part, const std::string& word) {
  const std::size_t at = part.empty() ? std::string::npos : text.find(part);
  return at == std::string::npos ? text : text.replace(at, part.size(), word);
}

std::string line(const RunFacts& facts, bool threads, const Placed& placed) {
  const EngineChoice choice = choose_engines(facts, threads, placed.placement);
  const auto flag = [](bool on, const char* name) { return " " + std::string(on ? "" : "!") + name; };
  const auto text = [&](const std::string& said) {
    const std::string known =
        with(with(said, placed.placement.reason, "<reason>"), placed.placement.refusal, "<refusal>");
    return std::string(known.empty() ? " |" : " | ") + known;
  };
  std::string made = std::string(name(facts.asked)) + flag(facts.one_node, "one_node") +
                     flag(facts.within_node, "within") + flag(facts.hook, "hook") + flag(threads, "threads") + " " +
                     std::string(placed.name) + " |" + flag(asks_for_threads(facts), "asks") + ";";
  for (const std::string_view engine : choice.usable()) made += " " + std::string(engine);
  made += std::string(choice.periodic ? "+" : "") + "; " + (by_callers(placed.placement, true) ? "callers" : "best");
  made += link_has_progress_thread(facts) ? "; link" : "";
  return made + text(choice.why) + text(choice.warning) + text(choice.refusal);
}

TEST(EngineChoice, OfEveryCombinationOfFactsIsAsWrittenDown) {
  std::ifstream golden(GOLDEN_FOLDER "/engines.txt");
  ASSERT_TRUE(golden.good());
  std::string expected;
  for (const EngineKind asked : {EngineKind::poll, EngineKind::thread, EngineKind::kernel}) {
    for (unsigned facts = 0; facts < 16; ++facts) {
      for (const Placed& placed : placements()) {
        const RunFacts run{
            .asked = asked, .hook = (facts & 4U) != 0, .one_node = (facts & 1U) != 0, .within_node = (facts & 2U) != 0};
        ASSERT_TRUE(std::getline(golden, expected));
        EXPECT_EQ(line(run, (facts & 8U) != 0, placed), expected);
      }
    }
  }
  EXPECT_FALSE(std::getline(golden, expected));
}

// A progress thread that never calls the MPI library asks for no thread level; where the wire then does not come, there
// is none.
TEST(EngineChoice, ARankAloneOnItsNodeAsksForNoThreadLevelByWire) {
  const Placed shared = placements()[1];
  RunFacts facts{.hook = true, .by_wire = true};
  EXPECT_FALSE(asks_for_threads(facts));
  EXPECT_EQ(choose_engines(facts, false, shared.placement).usable(), (std::vector<std::string_view>{"thread", "poll"}));
  facts.no_wire = "the nodes do not reach each other";
  const EngineChoice without = choose_engines(facts, false, shared.placement);
  EXPECT_EQ(without.usable(), std::vector<std::string_view>{"poll"});
  EXPECT_NE(without.warning.find("no transport wire (the nodes do not reach each other)"), std::string::npos);
  EXPECT_NE(without.warning.find("--transport native"), std::string::npos);
  // Where the program asked for that level itself a progress thread may use the MPI library.
  EXPECT_EQ(choose_engines(facts, true, shared.placement).usable(), (std::vector<std::string_view>{"thread", "poll"}));
  // A periodic progress thread calls the MPI library.
  facts.hook = false;
  EXPECT_TRUE(asks_for_threads(facts));
}

// Alone on its node, by wire: but for a device of another network, where option TRANSPORT has the wire yield to it.
TEST(EngineChoice, ARankCountsOnTheWireUnlessADeviceSpeaksAgainstIt) {
  EXPECT_TRUE(counts_on_wire({.alone = true, .wire = true}));
  EXPECT_FALSE(counts_on_wire({.wire = true}));
  EXPECT_FALSE(counts_on_wire({.alone = true}));
  EXPECT_FALSE(counts_on_wire({.alone = true, .wire = true, .other_network = true}));
  EXPECT_TRUE(counts_on_wire({.alone = true, .wire = true, .yields = false, .other_network = true}));
}

// A network without a device that tells it: engine poll, and the warning says what has shown the network and what to
// do.
TEST(EngineChoice, ANetworkThatShowsInInitOnlyIsNamedInTheWarning) {
  const Placement shared = placements()[1].placement;
  RunFacts facts{.hook = true, .by_wire = counts_on_wire({.alone = true, .wire = true})};
  EXPECT_FALSE(asks_for_threads(facts));
  facts.no_wire = no_wire_for("the nodes of ranks 0 and 1 have a better network", "the MPI library uses /dev/strange0");
  const EngineChoice choice = choose_engines(facts, false, shared);
  EXPECT_EQ(choice.usable(), std::vector<std::string_view>{"poll"});
  EXPECT_NE(choice.warning.find("better network; here the MPI library uses /dev/strange0"), std::string::npos);
  EXPECT_NE(choice.warning.find("With --transport native"), std::string::npos);
  // The next job, with --transport native.
  facts = {.hook = true, .by_wire = counts_on_wire({.alone = true, .wire = false})};
  EXPECT_TRUE(asks_for_threads(facts));
  EXPECT_EQ(choose_engines(facts, true, shared).usable(), (std::vector<std::string_view>{"thread", "poll"}));
  EXPECT_EQ(no_wire_for("", "the MPI library uses /dev/strange0"), "") << "the wire is used all the same";
  EXPECT_EQ(no_wire_for("ranks 0 and 1 are apart", ""), "ranks 0 and 1 are apart");
}

TEST(EngineChoice, EngineNativeAsksForNothing) {
  for (unsigned facts = 0; facts < 8; ++facts) {
    EXPECT_FALSE(asks_for_threads({.asked = EngineKind::native,
                                   .hook = (facts & 1U) != 0,
                                   .one_node = (facts & 2U) != 0,
                                   .within_node = (facts & 4U) != 0}));
  }
}

TEST(EngineChoice, KnowsEachChoiceOfTheOptionButNative) {
  const EngineChoice choice = choose_engines({}, true, {});
  std::set<std::string_view> known{"native"};
  for (const EngineChoice::Engine& engine : choice.engines) known.insert(engine.name);
  const auto option = option_named("ENGINE");
  ASSERT_TRUE(option.ok());
  EXPECT_EQ(known, std::set<std::string_view>((*option)->choices.begin(), (*option)->choices.end()));
  EXPECT_EQ(choice.why_not("nowhere"), "there is no engine of this name");
}

TEST(EngineChoice, WhereThereIsNoEngineKernelEngineThreadTakesItsPlaceWithTheReason) {
  const Placement placement = placements()[1].placement;
  const RunFacts facts{.asked = EngineKind::kernel, .hook = true, .no_kernel = "too old"};
  const EngineChoice choice = choose_engines(facts, true, placement);
  EXPECT_EQ(choice.usable(), (std::vector<std::string_view>{"thread", "poll"}));
  EXPECT_EQ(choice.why_not("kernel"), "too old");
  EXPECT_EQ(choice.warning, "engine thread instead of kernel: too old");
  EXPECT_EQ(choice.why, "too old; " + placement.reason);
}

TEST(EngineChoice, WhereThereIsNoProgressThreadEitherEnginePollTakesTheKernelsPlace) {
  const RunFacts one_node{
      .asked = EngineKind::kernel, .hook = true, .one_node = true, .within_node = false, .no_kernel = "too old"};
  const EngineChoice choice = choose_engines(one_node, true, placements()[1].placement);
  EXPECT_EQ(choice.usable(), std::vector<std::string_view>{"poll"});
  EXPECT_EQ(choice.warning, "engine poll instead of kernel: too old");
}

// One line says what is there instead, and each reason once.
TEST(EngineChoice, WithoutThreadsAndWireOneLineSaysThatEnginePollIsThere) {
  RunFacts apart{.asked = EngineKind::thread, .hook = true, .by_wire = true, .no_wire = "eth9 is missing"};
  const std::string why =
      "no transport wire (eth9 is missing). With --transport native a progress thread may use the MPI library";
  EngineChoice choice = choose_engines(apart, false, placements()[1].placement);
  EXPECT_EQ(choice.why, why);
  EXPECT_EQ(choice.warning, "engine poll instead of thread: " + why);
  apart.asked = EngineKind::kernel;
  apart.no_kernel = "too old";
  choice = choose_engines(apart, false, placements()[1].placement);
  EXPECT_EQ(choice.why, "too old; " + why);
  EXPECT_EQ(choice.warning, "engine poll instead of kernel: too old; " + why);
}

TEST(EngineChoice, TheKernelIsNotForRanksThatShareCores) {
  EXPECT_EQ(kernel_obstacle("", {}), "");
  EXPECT_EQ(kernel_obstacle("too old", {}), "too old");
  Placement shared;
  shared.oversubscribed = true;
  EXPECT_NE(kernel_obstacle("", shared).find("ranks share cores here"), std::string::npos);
}

TEST(EngineChoice, OnlyOperationsWithinTheNodeAreForCallers) {
  for (const Placed& placed : placements()) {
    EXPECT_FALSE(by_callers(placed.placement, false)) << placed.name;
    EXPECT_EQ(by_callers(placed.placement, true), placed.name == "other-nodes") << placed.name;
  }
}

// As `urakata check` says it, before any job.
TEST(EngineChoice, OfAJobThatIsNotStartedItSaysWhereProgressThreadsWouldBe) {
  const auto thread = [](bool threads, const Placement& placement) {
    const std::vector<EngineFinding> found = find_engines(threads, placement, "old");
    EXPECT_EQ(found.size(), 4U);
    EXPECT_EQ(found[3].name, "kernel");
    EXPECT_EQ(found[3].why, "old");
    EXPECT_FALSE(found[3].usable);
    EXPECT_EQ(found[0].why, "everything is left to the MPI library");
    EXPECT_EQ(found[1].why, "operations progress inside MPI calls");
    EXPECT_TRUE(found[0].usable && found[1].usable);
    EXPECT_EQ(found[2].name, "thread");
    return (found[2].usable ? "" : "not: ") + found[2].why;
  };
  const std::vector<std::string> expected{
      "progress threads would run on spare cores",
      "progress threads would run on the ranks' own cores (shared)",
      "progress threads would run on the ranks' own cores (shared), only for messages to "
      "other nodes; --placement shared: for all",
      "progress threads would run on the ranks' own cores (shared)",
      "progress threads would run on spare cores",
      "progress threads would run on the ranks' own cores (shared)"};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(thread(true, placements()[i].placement), expected[i]);
    EXPECT_EQ(thread(false, placements()[i].placement),
              "not: the MPI library does not allow calls by several threads (MPI_THREAD_MULTIPLE)");
  }
}

TEST(EngineChoice, ACommunicatorThatTheKernelCannotServeIsToldWhy) {
  EXPECT_EQ(channel_set_obstacle(2, true, true), "");
  EXPECT_EQ(channel_set_obstacle(64, true, true), "");
  EXPECT_EQ(channel_set_obstacle(65, true, true), "it has more than 64 ranks");
  EXPECT_EQ(channel_set_obstacle(4, false, true), "several of its ranks are on one node");
  EXPECT_EQ(channel_set_obstacle(4, true, false), "not all of its ranks reach each other by transport wire");
}

}  // namespace
}  // namespace urakata::tune::engine_choice_test
