// SPDX-License-Identifier: BSD-3-Clause
// Exchanges allocate nothing, whichever way the payloads take.
#include <gtest/gtest.h>

#include <cstdint>

#include "../counted_allocations.hpp"
#include "neighbourhood.hpp"

namespace urakata::halo::test {
namespace {

TEST(NeighbourhoodChannel, ExchangesAllocateNothing) {
  for (const Costs& costs : {Costs{}, Costs{.pull_least = 0, .shared_most = 0}}) {
    Neighbourhood all(3,
                      {channel(0, 1, 8),
                       channel(1, 0, 8),
                       channel(0, 1, 4096),
                       channel(1, 0, 4096),
                       channel(0, 2, 8),
                       channel(0, 0, 64),
                       channel(2, 1, 0),
                       {1, 2, strided(500, 200, 8), strided(1000, 100, 8)}},
                      costs);
    all.join_all();
    std::uint64_t before = 0;
    for (std::uint64_t k = 1; k <= 6; ++k) {
      if (k == 2) before = urakata::test::allocations.load();
      for (Rank& rank : all.rank) rank.begin();
      for (Rank& rank : all.rank) {
        while (rank.halo->ready_any().has_value()) continue;
      }
      for (Rank& rank : all.rank) EXPECT_TRUE(test(rank));
    }
    EXPECT_EQ(urakata::test::allocations.load(), before);
    EXPECT_GT(before, 0U);
  }
}

}  // namespace
}  // namespace urakata::halo::test
