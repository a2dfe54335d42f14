// SPDX-License-Identifier: BSD-3-Clause
#include "job/job.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <mutex>
#include <numeric>

#include "base/options/options.hpp"
#include "meeting.hpp"

namespace urakata::job::job_test {
namespace {

using Ranks = std::vector<std::int32_t>;

std::size_t equal_options() {
  return static_cast<std::size_t>(std::ranges::count(option_table(), Agreement::equal, &Option::agreement));
}

// What each rank of a job makes of the facts of all.
struct Agreed {
  std::vector<Job> jobs;
  std::vector<bool> agreed;
};
Agreed agreed(std::size_t ranks, const std::function<Facts(std::size_t)>& facts) {
  Agreed result{std::vector<Job>(ranks), std::vector<bool>(ranks)};
  std::mutex one;
  simulated::Meeting(ranks).run([&](Bootstrap& all) {
    const bool agreed = result.jobs[all.rank()].agree(all, facts(all.rank()));
    const std::lock_guard guard(one);
    result.agreed[all.rank()] = agreed;
  });
  return result;
}

Facts usual() { return {true, false, 100, 0, std::vector<std::uint64_t>(equal_options(), 7)}; }

TEST(Job, OptionsThatDecideWhichMessagesThereAreMustBeEqual) {
  for (const Option& option : option_table()) {
    const bool decides = option.name == "ALGORITHM" || option.name == "SEGMENT" || option.name == "COSTS" ||
                         option.name == "NEIGHBORHOOD" || option.name == "BLOCKING" || option.name == "SITES" ||
                         option.name == "LANES" || option.name == "CONNECTIONS";
    EXPECT_EQ(option.agreement == Agreement::equal, decides) << option.name;
  }
  EXPECT_EQ(own_facts().options.size(), equal_options());
}

TEST(Job, TheLeastRoomInTheTagsIsEverybodys) {
  const Agreed all = agreed(3, [](std::size_t rank) {
    Facts facts = usual();
    facts.contexts = rank == 1 ? 5 : 9;
    return facts;
  });
  for (const Job& job : all.jobs) EXPECT_EQ(job.contexts(), 5);
  EXPECT_EQ(all.agreed, std::vector(3, true));
}

// Also where all is the MPI library's: a report is written there, too.
TEST(Job, TheIdentityIsRank0sOnEveryRank) {
  for (const bool engine : {true, false}) {
    const Agreed all = agreed(3, [&](std::size_t rank) {
      Facts facts = usual();
      facts.engine = engine;
      facts.identity = 0x3fff'fff0U + static_cast<std::uint32_t>(rank);
      return facts;
    });
    for (const Job& job : all.jobs) EXPECT_EQ(job.identity(), 0x3fff'fff0U);
    EXPECT_EQ(all.agreed, std::vector(3, engine));
  }
  EXPECT_NE(own_facts().identity, 0U);
}

TEST(Job, OneRankWithoutAnEngineLeavesAllToTheLibraryOnEveryRank) {
  testing::internal::CaptureStderr();
  const Agreed all = agreed(4, [](std::size_t rank) {
    Facts facts = usual();
    facts.engine = rank != 2;
    return facts;
  });
  EXPECT_EQ(all.agreed, std::vector(4, false));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("ENGINE is native on 1 of 4 ranks"), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

TEST(Job, EngineKernelIsForAllRanksOrForNone) {
  testing::internal::CaptureStderr();
  const Agreed some = agreed(3, [](std::size_t rank) {
    Facts facts = usual();
    facts.kernel = rank != 0;
    return facts;
  });
  for (const Job& job : some.jobs) EXPECT_FALSE(job.all_kernel());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("not engine kernel: ENGINE is kernel on 2 of 3 ranks only"), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  const Agreed all = agreed(3, [](std::size_t) {
    Facts facts = usual();
    facts.kernel = true;
    return facts;
  });
  for (const Job& job : all.jobs) EXPECT_TRUE(job.all_kernel());
}

// Ranks 1 and 3 have another BLOCKING: 0 and 2 are alike, and 1 and 3, and no others.
TEST(Job, RanksWithEqualOptionsAreAlike) {
  testing::internal::CaptureStderr();
  const Agreed all = agreed(4, [](std::size_t rank) {
    Facts facts = usual();
    facts.options.back() = rank % 2;
    return facts;
  });
  EXPECT_EQ(all.agreed, std::vector(4, true));
  for (const Job& job : all.jobs) {
    EXPECT_TRUE(job.alike(Ranks{0, 2}));
    EXPECT_TRUE(job.alike(Ranks{3, 1}));
    EXPECT_FALSE(job.alike(Ranks{0, 1, 2, 3}));
    EXPECT_FALSE(job.alike(Ranks{2, 3}));
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("other values than rank 0's: ranks 1, 3: CONNECTIONS;"), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

// Rank 1 differs from ranks 0 and 2 in ALGORITHM, rank 3 in CONNECTIONS.
TEST(Job, TheLineNamesEachRankThatDiffersWithWhatItDiffersIn) {
  testing::internal::CaptureStderr();
  agreed(4, [](std::size_t rank) {
    Facts facts = usual();
    if (rank == 1) facts.options.front() = 1;
    if (rank == 3) facts.options.back() = 1;
    return facts;
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("other values than rank 0's: rank 1: ALGORITHM; rank 3: CONNECTIONS;"), std::string::npos)
      << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

// Ranks 0 1 4 on one node, 2 3 on another; only rank 4 finds its node crowded.
TEST(Job, NodesAreKnownAndCrowdedIfAnyRankSaysSo) {
  const std::vector<std::int32_t> leaders{0, 0, 2, 2, 0};
  const std::vector<std::string_view> masks{"0", "0-1", "4", "200", "0"};
  std::vector<Job> jobs(5);
  simulated::Meeting(5).run([&](Bootstrap& all) {
    const std::size_t rank = all.rank();
    NodeRanks node_ranks;
    node_ranks.mask = *CpuSet::from_text(masks[rank]);
    Job& job = jobs[rank];
    ASSERT_TRUE(job.meet(all, leaders[rank], node_ranks));
    EXPECT_EQ(node_ranks.ranks, leaders[rank] == 0 ? 3U : 2U);
    EXPECT_EQ(node_ranks.rank, (std::array{0U, 1U, 0U, 1U, 2U})[rank]);
    ASSERT_TRUE(node_ranks.masks.has_value());
    EXPECT_EQ(node_ranks.masks->alike, (std::array{2U, 1U, 1U, 1U, 2U})[rank]);
    EXPECT_EQ(node_ranks.masks->before, rank == 4 ? 1U : 0U);
    ASSERT_TRUE(job.note_crowded(all, rank == 4));
  });
  for (const Job& job : jobs) {
    EXPECT_TRUE(std::ranges::equal(job.nodes(), leaders));
    EXPECT_TRUE(job.same_node(Ranks{4, 0}));
    EXPECT_FALSE(job.same_node(Ranks{0, 1, 2}));
    EXPECT_TRUE(job.nodes_apart(Ranks{3, 1}));
    EXPECT_FALSE(job.nodes_apart(Ranks{0, 2, 4}));
    EXPECT_EQ(job.ranks_per_node(Ranks{0, 1, 4, 2, 3}), 3U);
    EXPECT_EQ(job.ranks_per_node(Ranks{0, 1, 2, 3, 4}), 1U) << "node 0's ranks do not follow each other";
    EXPECT_TRUE(job.crowded(Ranks{0, 1}));
    EXPECT_FALSE(job.crowded(Ranks{2, 3}));
  }
}

}  // namespace
}  // namespace urakata::job::job_test
