// SPDX-License-Identifier: BSD-3-Clause
// Setup and teardown of neighbourhood channels; one thread plays all ranks.
#include <gtest/gtest.h>

#include "halo/neighbourhood_channel.hpp"
#include "neighbourhood.hpp"

namespace urakata::halo::test {
namespace {

// A payload beyond the budget has no bounce buffer. If its receiver has begun, it is put directly and whole.
TEST(NeighbourhoodChannel, BounceBuffersKeepWithinTheBudget) {
  Neighbourhood all(2, {channel(0, 1, 1000), channel(0, 1, 1000), channel(0, 1, 100)},
                    {.direct_least = 512, .shared_most = 0, .bounce_budget = 2500});
  all.join_all();
  EXPECT_EQ(all.rank[1].halo->bounce_buffers().bytes, 2 * 1024U + 2 * 128U);
  EXPECT_EQ(all.rank[1].halo->bounce_buffers().budget, 2500U);
  EXPECT_EQ(all.rank[1].halo->bounce_buffers().without, 1U);
  EXPECT_EQ(all.rank[1].halo->bounce_buffers().refused, 1U);
  begin(all.rank[0], all, 1);
  begin(all.rank[1], all, 1);
  EXPECT_TRUE(test(all.rank[1]));
  EXPECT_TRUE(test(all.rank[0]));
  EXPECT_TRUE(holds_all(all.rank[1], all, 1));
  EXPECT_EQ(all.rank[0].halo->counts().rendezvous, 1U);
  EXPECT_EQ(all.rank[0].halo->counts().bounced, 2U);
  begin(all.rank[1], all, 2);
  begin(all.rank[0], all, 2);
  EXPECT_EQ(all.rank[0].halo->counts().rendezvous, 1U);
  EXPECT_EQ(all.rank[0].halo->counts().direct, 2U);
}

TEST(NeighbourhoodChannel, BothEndsAreToldThatTheyDoNotFit) {
  Neighbourhood all(
      2, {{0, 1, plain(9), plain(8)}, {0, 1, plain(8), strided(3, 3, 1)}, {0, 1, plain(9), strided(3, 3, 1)}});
  NeighbourhoodChannel& sender = *all.rank[0].halo;
  NeighbourhoodChannel& receiver = *all.rank[1].halo;
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

// Ranks whose endpoints share channels differently: nothing is connected, both ranks are told, and neither waits.
TEST(NeighbourhoodChannel, EndsThatShareChannelsOtherwiseDoNotFit) {
  const auto plain_channel = [](std::uint64_t sent, std::uint64_t received) {
    return TestChannel{0, 1, plain(sent), plain(received)};
  };
  const std::vector<std::vector<TestChannel>> cases{
      {plain_channel(9, 8), plain_channel(8, 8)},  // the same number of endpoints, another sum of bytes
      {plain_channel(0, 8), plain_channel(8, 8)},  // one endpoint more at the receiver
      {plain_channel(60'000, 60'000), plain_channel(10'000, 100)}};  // too long to share at the sender only
  for (const std::vector<TestChannel>& channels : cases) {
    Neighbourhood all(2, channels);
    NeighbourhoodChannel& sender = *all.rank[0].halo;
    NeighbourhoodChannel& receiver = *all.rank[1].halo;
    bool fits = true;
    for (std::size_t i = 0; i < channels.size(); ++i) {
      const Fit fit = receiver.join(i, sender.record(i));
      EXPECT_EQ(sender.fit(i), fit);
      EXPECT_TRUE(fit != Fit::good || channels[i].out.bytes() == channels[i].in.bytes());
      fits = fits && fit == Fit::good;
    }
    EXPECT_FALSE(fits);
    EXPECT_TRUE(sender.released());
    EXPECT_TRUE(receiver.released());
  }
  // Ranks that disagree about sharing, though all endpoints fit.
  p2p::Port port;
  const std::vector<ChannelEnd> ends(2, ChannelEnd{0, 0, 8, nullptr});
  NeighbourhoodChannel shares(port, ends, {});
  NeighbourhoodChannel shares_not(port, {}, ends, {.shared_most = 0});
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NE(shares_not.join(i, shares.record(i)), Fit::good);
}

// A sender that has retired keeps the memory that its receiver will write to.
TEST(NeighbourhoodChannel, IsReleasedWhenAllNeighboursHaveRetired) {
  Neighbourhood all(3, {channel(0, 1, 64), channel(2, 0, 64), channel(0, 0, 64)});
  all.join_all();
  for (const std::size_t r : {0U, 2U}) begin(all.rank[r], all, 1);
  EXPECT_TRUE(test(all.rank[0]));
  all.rank[0].halo->retire();
  all.rank[2].halo->retire();
  EXPECT_TRUE(all.rank[2].halo->released());
  EXPECT_FALSE(all.rank[0].halo->released());
  begin(all.rank[1], all, 1);
  EXPECT_TRUE(test(all.rank[1]));
  all.rank[1].halo->retire();
  EXPECT_TRUE(all.rank[0].halo->released());
}

// An endpoint that leads to no rank is ready at once, and no rank waits for it.
TEST(NeighbourhoodChannel, EndsThatLeadToNobodyAreNotJoined) {
  p2p::Port port;
  constexpr std::uint32_t kNobody = ~0U;
  const ChannelEnd to_nobody{kNobody, 0, 0, nullptr};
  const ChannelEnd of_itself{0, 0, 8, nullptr};
  NeighbourhoodChannel halo(port, std::vector<ChannelEnd>{of_itself, to_nobody},
                            std::vector<ChannelEnd>{to_nobody, of_itself});
  EXPECT_EQ(halo.join(1, halo.record(0)), Fit::good);
  const std::uint64_t sent = 7;
  std::uint64_t got = 0;
  halo.begin(reinterpret_cast<const std::byte*>(&sent), reinterpret_cast<std::byte*>(&got));
  EXPECT_EQ(halo.ready_any(), 0U);
  EXPECT_TRUE(halo.ready(0));
  EXPECT_EQ(halo.ready_any(), 1U);
  EXPECT_EQ(halo.ready_any(), std::nullopt);
  EXPECT_EQ(got, 7U);
  EXPECT_TRUE(halo.complete());
  EXPECT_FALSE(halo.released());
  halo.retire();
  EXPECT_TRUE(halo.released());
}

}  // namespace
}  // namespace urakata::halo::test
