// SPDX-License-Identifier: BSD-3-Clause
#include "job/contexts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "meeting.hpp"

namespace urakata::job::contexts_test {
namespace {

TEST(Contexts, AreTakenInSpansAndGivenBackOneByOne) {
  Contexts contexts;
  contexts.reset(10, 2);
  EXPECT_EQ(contexts.take(4).first, 2);  // 2 3 4 5
  const auto rest = contexts.take(8);    // as many as there are: 6 7 8 9
  EXPECT_EQ(rest.first, 6);
  EXPECT_EQ(rest.length, 4);
  EXPECT_EQ(contexts.take(1).length, 0);
  contexts.give({3, 1});
  contexts.give({7, 2});
  EXPECT_EQ(contexts.take(2).first, 7);
  EXPECT_EQ(contexts.take(2).length, 1);
}

// Of a family of three ranks, of which rank 1 has many communicators already, the k-th child has a number that each
// knows of all: no rank has the same for two children that live.
TEST(ChildContexts, MembersKnowEachOthersNumbers) {
  constexpr std::size_t kRanks = 3;
  constexpr int kChildren = 200;
  std::array<std::array<std::array<std::int32_t, kRanks>, kChildren>, kRanks> seen{};
  std::array<std::array<std::array<std::uint32_t, kRanks>, kChildren>, kRanks> endpoint_comms{};
  simulated::Meeting(kRanks).run([&](Bootstrap& all) {
    const auto rank = static_cast<std::int32_t>(all.rank());
    Contexts contexts;
    contexts.reset(1000, rank == 1 ? 700 : 3);
    ChildContexts family(contexts, rank);
    std::vector<MemberContexts> alive;
    std::set<std::int32_t> own;
    for (int child = 0; child < kChildren; ++child) {
      if (family.used_up()) {
        ASSERT_TRUE(family.refill(all));
      }
      MemberContexts place = family.next();
      ASSERT_TRUE(place.has_context());
      for (std::size_t other = 0; other < kRanks; ++other) {
        seen[static_cast<std::size_t>(all.rank())][static_cast<std::size_t>(child)][other] =
            place.context_of(static_cast<std::int32_t>(other));
        endpoint_comms[static_cast<std::size_t>(all.rank())][static_cast<std::size_t>(child)][other] =
            place.endpoint_comm_of(static_cast<std::int32_t>(other));
      }
      EXPECT_TRUE(own.insert(place.context_of(rank)).second);
      alive.push_back(std::move(place));
    }
  });
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
  EXPECT_EQ(endpoint_comms[0], endpoint_comms[1]);
  EXPECT_EQ(endpoint_comms[0], endpoint_comms[2]);
}

// Rank 1 has room for 5 only: from the sixth that lives the children have none, on both ranks, until some are freed.
TEST(ChildContexts, ChildrenForWhichAMemberHasNoRoomHaveNoContextOnAnyRank) {
  testing::internal::CaptureStderr();
  std::array<std::vector<bool>, 2> has;
  simulated::Meeting(2).run([&](Bootstrap& all) {
    Contexts contexts;
    contexts.reset(all.rank() == 1 ? 5 : 500, 0);
    ChildContexts family(contexts, static_cast<std::int32_t>(all.rank()));
    std::vector<MemberContexts> alive;
    for (int child = 0; child < 300; ++child) {
      if (family.used_up()) {
        ASSERT_TRUE(family.refill(all));
      }
      alive.push_back(family.next());
      has[all.rank()].push_back(alive.back().has_context());
      if (child == 150) alive.clear();
    }
  });
  EXPECT_EQ(has[0], has[1]);
  EXPECT_EQ(std::count(has[0].begin(), has[0].begin() + 151, true), 5);
  EXPECT_EQ(std::count(has[0].begin() + 151, has[0].end(), true), 5);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

// What is not used goes back: a communicator that is freed leaves as much room as there was.
TEST(ChildContexts, GivesBackAllThatItHeld) {
  simulated::Meeting(1).run([](Bootstrap& all) {
    Contexts contexts;
    contexts.reset(64, 0);
    {
      ChildContexts family(contexts, 0);
      for (int child = 0; child < 10; ++child) {
        if (family.used_up()) {
          ASSERT_TRUE(family.refill(all));
        }
        MemberContexts moved = family.next();
        MemberContexts place;
        place = std::move(moved);
      }
    }
    EXPECT_EQ(contexts.take(64).length, 64);
  });
}

// Each kind of collective made persistent once, as test suites do with each communicator: 18 children, two exchanges.
TEST(ChildContexts, AHandfulOfPersistentCollectivesTakesTwoExchanges) {
  simulated::Meeting(1).run([](Bootstrap& all) {
    Contexts contexts;
    contexts.reset(64, 0);
    ChildContexts family(contexts, 0);
    int exchanges = 0;
    for (int child = 0; child < 18; ++child) {
      if (family.used_up()) {
        ++exchanges;
        ASSERT_TRUE(family.refill(all));
      }
      family.next();
    }
    EXPECT_EQ(exchanges, 2);
  });
}

// MPI_COMM_WORLD's: the same numbers everywhere, and the exchanged ones after them.
TEST(ChildContexts, TheFixedRunNeedsNoExchange) {
  Contexts contexts;
  contexts.reset(100, 3);
  ChildContexts family(contexts, 5);
  family.fix(3);
  for (std::int32_t child = 0; child < 3; ++child) {
    ASSERT_FALSE(family.used_up());
    const MemberContexts place = family.next();
    EXPECT_EQ(place.context_of(5), child);
    EXPECT_EQ(place.context_of(77), child);
    EXPECT_EQ(place.endpoint_comm_of(77), static_cast<std::uint32_t>(child) + 1);
  }
  EXPECT_TRUE(family.used_up());
}

}  // namespace
}  // namespace urakata::job::contexts_test
