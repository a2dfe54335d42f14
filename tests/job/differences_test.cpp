// SPDX-License-Identifier: BSD-3-Clause
#include "job/differences.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace urakata::job::differences_test {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"A", "B", "C"};

// A row of three values for each rank.
std::string told(const std::vector<std::array<std::uint64_t, 3>>& rows) {
  const std::vector<std::span<const std::uint64_t>> values(rows.begin(), rows.end());
  return differences(kNames, values);
}

TEST(Differences, RanksThatDifferInTheSameNamesStandTogetherWhateverTheirValues) {
  EXPECT_EQ(told({{1, 1, 1}, {1, 1, 1}}), "");
  EXPECT_EQ(told({{1, 1, 1}, {2, 1, 1}, {1, 2, 1}}), "rank 1: A; rank 2: B");
  EXPECT_EQ(told({{1, 1, 1}, {2, 1, 3}, {1, 1, 1}, {3, 1, 2}, {4, 1, 2}}), "ranks 1, 3-4: A and C");
  EXPECT_EQ(told({{1, 1, 1}, {1, 2, 1}, {2, 1, 1}, {1, 2, 1}}), "ranks 1, 3: B; rank 2: A");
}

// Every second of 20 ranks differs.
TEST(Differences, OfManyRunsOfRanksFourAreTold) {
  std::vector<std::array<std::uint64_t, 3>> rows(20);
  for (std::size_t rank = 1; rank < rows.size(); rank += 2) rows[rank][1] = 1;
  EXPECT_EQ(told(rows), "ranks 1, 3, 5, 7 and 6 more: B");
  rows.assign(4000, {1, 1, 1});
  rows[0] = {};
  EXPECT_EQ(told(rows), "ranks 1-3999: A, B and C");
}

// Rank r differs in the names of r's bits, ranks 8 to 14 once more in those of 1 to 7.
TEST(Differences, OfManyKindsFourAreTold) {
  std::vector<std::array<std::uint64_t, 3>> rows;
  for (const std::uint64_t rank : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
    rows.push_back({rank & 1U, rank & 2U, rank & 4U});
  }
  EXPECT_EQ(told(rows), "ranks 1, 8: A; ranks 2, 9: B; ranks 3, 10: A and B; ranks 4, 11: C; 6 more, each in others");
}

}  // namespace
}  // namespace urakata::job::differences_test
