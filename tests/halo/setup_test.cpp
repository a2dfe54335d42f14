// Making plans and giving them back; one thread plays all ranks.
#include <gtest/gtest.h>

#include "halo/plan.hpp"
#include "neighbourhood.hpp"

namespace urakata::halo::test {
namespace {

// What is beyond the budget has no landing place, and goes whole to a receiver that is there.
TEST(Plan, LandingPlacesKeepWithinTheBudget) {
  constexpr std::uint64_t kLong = 640 * kLine;  // two of them do not share an edge
  constexpr std::uint64_t kBudget = 2 * kLong + 300;
  Neighbourhood all(2, {edge(0, 1, kLong), edge(0, 1, kLong), edge(0, 1, 100)},
                    {.direct_least = 512, .landing_budget = kBudget, .pieces = {kLong, kLong}});
  all.join_all();
  EXPECT_EQ(all.rank[1].plan->landing().bytes, 2 * kLong + 2 * 128U);
  EXPECT_EQ(all.rank[1].plan->landing().budget, kBudget);
  EXPECT_EQ(all.rank[1].plan->landing().without, 1U);
  EXPECT_EQ(all.rank[1].plan->landing().refused, 1U);
  begin(all.rank[0], all, 1);
  begin(all.rank[1], all, 1);
  EXPECT_TRUE(test(all.rank[1]));
  EXPECT_TRUE(test(all.rank[0]));
  EXPECT_TRUE(holds_all(all.rank[1], all, 1));
  EXPECT_EQ(all.rank[0].plan->counts().offered, 1U);
  EXPECT_EQ(all.rank[0].plan->counts().landed, 2U);
  begin(all.rank[1], all, 2);
  begin(all.rank[0], all, 2);
  EXPECT_EQ(all.rank[0].plan->counts().offered, 1U);
  EXPECT_EQ(all.rank[0].plan->counts().direct, 2U);
}

TEST(Plan, BothEndsAreToldThatTheyDoNotFit) {
  Neighbourhood all(
      2, {{0, 1, plain(9), plain(8)}, {0, 1, plain(8), strided(3, 3, 1)}, {0, 1, plain(9), strided(3, 3, 1)}});
  Plan& sender = *all.rank[0].plan;
  Plan& receiver = *all.rank[1].plan;
  EXPECT_EQ(sender.fit(0), Fit::open);
  EXPECT_EQ(receiver.join(0, sender.record(0)), Fit::sender_longer);
  EXPECT_EQ(receiver.join(1, sender.record(1)), Fit::sender_shorter);
  EXPECT_EQ(receiver.join(2, sender.record(2)), Fit::good);
  EXPECT_EQ(sender.fit(0), Fit::sender_longer);
  EXPECT_EQ(sender.fit(1), Fit::sender_shorter);
  EXPECT_EQ(sender.fit(2), Fit::good);
  receiver.retire();
  EXPECT_FALSE(receiver.released());
  sender.retire();
  EXPECT_TRUE(receiver.released());
  EXPECT_TRUE(sender.released());
}

// A sender that has retired still holds what its receiver will write to.
TEST(Plan, IsReleasedWhenAllNeighboursHaveRetired) {
  Neighbourhood all(3, {edge(0, 1, 64), edge(2, 0, 64), edge(0, 0, 64)});
  all.join_all();
  for (const std::size_t r : {0U, 2U}) begin(all.rank[r], all, 1);
  EXPECT_TRUE(test(all.rank[0]));
  all.rank[0].plan->retire();
  all.rank[2].plan->retire();
  EXPECT_TRUE(all.rank[2].plan->released());
  EXPECT_FALSE(all.rank[0].plan->released());
  begin(all.rank[1], all, 1);
  EXPECT_TRUE(test(all.rank[1]));
  all.rank[1].plan->retire();
  EXPECT_TRUE(all.rank[0].plan->released());
}

// An end that leads to nobody is there at once, and is waited for by nobody.
TEST(Plan, EndsThatLeadToNobodyAreNotJoined) {
  p2p::Port port;
  constexpr std::uint32_t kNobody = ~0U;
  const End to_nobody{kNobody, 0, 0, nullptr};
  const End of_itself{0, 0, 8, nullptr};
  Plan plan(port, std::vector<End>{of_itself, to_nobody}, std::vector<End>{to_nobody, of_itself});
  EXPECT_EQ(plan.join(1, plan.record(0)), Fit::good);
  const std::uint64_t sent = 7;
  std::uint64_t got = 0;
  plan.begin(reinterpret_cast<const std::byte*>(&sent), reinterpret_cast<std::byte*>(&got));
  EXPECT_EQ(plan.ready_any(), 0U);
  EXPECT_TRUE(plan.ready(0));
  EXPECT_EQ(plan.ready_any(), 1U);
  EXPECT_EQ(plan.ready_any(), std::nullopt);
  EXPECT_EQ(got, 7U);
  EXPECT_TRUE(plan.complete());
  EXPECT_FALSE(plan.released());
  plan.retire();
  EXPECT_TRUE(plan.released());
}

}  // namespace
}  // namespace urakata::halo::test
