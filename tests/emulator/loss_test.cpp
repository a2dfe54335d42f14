// SPDX-License-Identifier: BSD-3-Clause
// Of a million segments with loss 0.01, about 10 000 are lost, 9 900 times one alone, 99 times two in a row.
#include "emulator/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace urakata::emulator {
namespace {

// The numbers of the kept ones of `total` segments that pass in packets of `each`.
std::vector<std::uint64_t> kept(Loss& loss, std::uint64_t total, std::uint32_t each) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t begin = 0; begin < total; begin += each) {
    loss.pass(each, [&](std::uint32_t first, std::uint32_t count) {
      EXPECT_GT(count, 0U);
      EXPECT_LE(first + count, each);
      for (std::uint32_t i = 0; i < count; ++i) numbers.push_back(begin + first + i);
    });
  }
  return numbers;
}

TEST(Loss, NothingIsLostWithoutAndEverythingWithOne) {
  Loss loss;
  EXPECT_EQ(kept(loss, 1000, 45).size(), 1035U);
  loss.set(1);
  EXPECT_TRUE(kept(loss, 450, 45).empty());
  EXPECT_EQ(loss.lost(), 450U);
}

TEST(Loss, DependsOnTheSeedAndNotOnHowSegmentsArePacked) {
  std::vector<std::vector<std::uint64_t>> results;
  for (const auto& [seed, each] : {std::pair{7U, 1U}, {7U, 45U}, {8U, 45U}}) {
    Loss loss;
    loss.seed(seed);
    loss.set(0.05);
    results.push_back(kept(loss, 9000, each));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_NE(results[1], results[2]);
}

// Each count of independent trials lies within six standard deviations of what it should be: wrong once in 10^9 seeds.
void expect_near(std::uint64_t count, double expected) {
  EXPECT_NEAR(static_cast<double>(count), expected, 6 * std::sqrt(expected) + 1) << "expected " << expected;
}

TEST(Loss, SegmentsAreLostEachByItself) {
  constexpr double kTrials = 45 * 40000;
  for (const double probability : {0.001, 0.01, 0.3}) {
    Loss loss;
    loss.seed(42);
    loss.set(probability);
    const auto numbers = kept(loss, static_cast<std::uint64_t>(kTrials), 45);
    EXPECT_EQ(numbers.size() + loss.lost(), static_cast<std::uint64_t>(kTrials));
    expect_near(loss.lost(), kTrials * probability);
    // A run of k: one kept before, one after.
    for (std::size_t k = 1; k < Loss::kRuns; ++k) {
      const double starts = kTrials * (1 - probability) * (1 - probability);
      expect_near(loss.runs()[k - 1], starts * std::pow(probability, static_cast<double>(k)));
    }
  }
}

}  // namespace
}  // namespace urakata::emulator
