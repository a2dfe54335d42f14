// SPDX-License-Identifier: BSD-3-Clause
// Over how many connections long payload goes, for what connections and links carry.
#include "transport/stripes/width.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace urakata::transport::width_test {
namespace {

constexpr std::uint64_t kStep = 10'000'000;  // ns

// Feeds what a link carries of which each connection carries `each` bytes/s, and all of them `all`, for so many seconds
// of sending. Returns the part of them that went over another number than `known()`.
double run(Width& width, double each, double all, double seconds, double noise = 0, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> factor(1 - noise, 1 + noise);
  const auto steps = static_cast<unsigned>(seconds * 1e9 / kStep);
  unsigned trying = 0;
  for (unsigned i = 0; i < steps; ++i) {
    const std::uint32_t now = width.now();
    const double rate = std::min(each * now, all) * factor(random);
    trying += now != width.known() ? 1 : 0;
    width.carried(now, static_cast<std::uint64_t>(rate * kStep / 1e9), kStep);
  }
  return static_cast<double>(trying) / steps;
}

TEST(Width, AsManyAsTheLinkTakes) {
  struct Case {
    double each, all;
    std::uint32_t most;  // that pay
  };
  for (const Case& one : {Case{12.5e6, 50e6, 4}, Case{600e6, 2500e6, 4}, Case{12.5e6, 13e6, 1}, Case{3e9, 3e9, 1},
                          Case{1e6, 100e6, Width::kMost}, Case{100e6, 140e6, 2}}) {
    Width width(0);
    run(width, one.each, one.all, 20);
    EXPECT_EQ(width.known(), one.most) << one.each << " of " << one.all;
  }
}

TEST(Width, NoiseWidensNothingAndTrialsInVainAreRare) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    Width width(0);
    EXPECT_LT(run(width, 1e9, 1e9, 300, 0.3, seed), 0.02);
    EXPECT_EQ(width.known(), 1U) << "seed " << seed;
  }
}

TEST(Width, WhatWentAnotherWayDoesNotCount) {
  Width width(0);
  for (int i = 0; i < 1000; ++i) width.carried(3, 1UL << 30, kStep);
  EXPECT_EQ(width.now(), 1U);
}

void start_trial(Width& width) {
  for (int i = 0; i < 10 && !width.trying(); ++i) width.carried(1, 1UL << 20, kStep);
  ASSERT_EQ(width.now(), 2U);
}

TEST(Width, ATrialThatTellsNothingEnds) {
  Width width(0);
  start_trial(width);
  width.mixed(2, Width::kMixed / 2);
  EXPECT_TRUE(width.trying());
  width.mixed(2, Width::kMixed / 2);
  EXPECT_EQ(width.now(), 1U);
  for (std::uint64_t i = 0; i < Width::kRest * Width::kMixed / kStep; ++i) width.carried(1, 1UL << 20, kStep);
  EXPECT_FALSE(width.trying());
  start_trial(width);
  width.give_up();
  EXPECT_EQ(width.now(), 1U);
}

TEST(Width, WhatGoesOnAfterATrialInVainIsPaidFor) {
  Width width(0);
  start_trial(width);
  while (width.trying()) width.carried(2, 1UL << 20, kStep);
  width.carried(2, 1UL << 20, 1'000'000'000);
  for (std::uint64_t i = 0; i < Width::kRest * 1'000'000'000 / kStep; ++i) width.carried(1, 1UL << 20, kStep);
  EXPECT_FALSE(width.trying());
}

TEST(Width, AFixedNumberStays) {
  Width width(3);
  run(width, 1e6, 1e9, 20);
  EXPECT_EQ(width.now(), 3U);
}

}  // namespace
}  // namespace urakata::transport::width_test
