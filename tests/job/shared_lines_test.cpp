// SPDX-License-Identifier: BSD-3-Clause
#include "job/shared_lines.hpp"

#include <gtest/gtest.h>

#include <array>
#include <mutex>

#include "meeting.hpp"

namespace urakata::job::shared_lines_test {
namespace {

using Said = std::vector<std::vector<std::string>>;

// What each rank is to say where each has these lines.
Said said(std::span<const std::int32_t> nodes, const Said& lines) {
  Said here(lines.size());
  simulated::Meeting(lines.size()).run([&](Bootstrap& all) {
    const SharedLines shared = share_lines(all, nodes, lines[all.rank()]);
    bool any = false;
    std::size_t first = lines.size();
    for (std::size_t rank = lines.size(); rank-- > 0;) {
      if (!lines[rank].empty()) first = rank;
      any = any || !lines[rank].empty();
    }
    EXPECT_EQ(shared.any, any);
    EXPECT_EQ(shared.first, first);
    here[all.rank()] = shared.here;
  });
  return here;
}

TEST(SharedLines, OneNodeHasALineOnce) {
  constexpr std::array<std::int32_t, 3> kNodes{0, 0, 0};
  EXPECT_EQ(said(kNodes, {{"no core (CPUs 0)"}, {"no core (CPUs 1)"}, {"no core (CPUs 12)"}}),
            (Said{{"no core (CPUs 0)"}, {}, {}}));
  EXPECT_EQ(said(kNodes, {{}, {"no core"}, {"no core", "no thread"}}), (Said{{}, {"no core"}, {"no thread"}}));
  EXPECT_EQ(said(kNodes, {{}, {}, {}}), Said(3));
}

TEST(SharedLines, AFaultOfAnotherNodeIsSaidAndOneOfSeveralNodesIsCounted) {
  constexpr std::array<std::int32_t, 4> kNodes{0, 0, 2, 2};
  EXPECT_EQ(said(kNodes, {{}, {}, {}, {"PROGRESS_CPUS"}}), (Said{{}, {}, {}, {"PROGRESS_CPUS (on 1 of 2 nodes)"}}));
  EXPECT_EQ(said(kNodes, {{}, {"x 1"}, {"x 2"}, {"x 3"}}), (Said{{}, {"x 1 (on 2 of 2 nodes)"}, {}, {}}));
}

TEST(SharedLines, AreAlikeButForNumbers) {
  EXPECT_TRUE(same_line("CPUs 0-1, 2 ranks", "CPUs 12-3, 16 ranks"));
  EXPECT_FALSE(same_line("1 core", "2 cores"));
}

}  // namespace
}  // namespace urakata::job::shared_lines_test
