// SPDX-License-Identifier: BSD-3-Clause
// A rank that waits by a descriptor naps longer and longer, up to 800 us; where not all that it waits for is told
// there, at most 100 us, after more yielding.
#include "p2p/backoff.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace urakata::p2p::backoff_test {
namespace {

std::uint64_t longest = 0;
unsigned naps = 0;
bool all_told = false;

void note(std::uint64_t ns) {
  longest = std::max(longest, ns);
  ++naps;
}

TEST(Backoff, NapsBrieflyWhereSomebodyTellsNobody) {
  Port port;
  for (const bool told : {true, false}) {
    all_told = told;
    longest = naps = 0;
    const BackoffSettings settings{
        .oversubscribed = true, .sleep = note, .descriptor_covers_all = [] { return all_told; }};
    Backoff backoff(port, settings);
    const auto never = [] { return false; };
    for (int i = 0; i < 100; ++i) backoff.step(never);
    EXPECT_EQ(naps != 0, told);
    for (int i = 0; i < 2000; ++i) backoff.step(never);
    EXPECT_NE(naps, 0U);
    EXPECT_EQ(longest, told ? 800'000U : 100'000U);
  }
}

}  // namespace
}  // namespace urakata::p2p::backoff_test
