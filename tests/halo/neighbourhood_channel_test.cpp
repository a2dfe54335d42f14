// SPDX-License-Identifier: BSD-3-Clause
// One thread plays all ranks, step by step: the exact cost of each way of a payload.
#include "halo/neighbourhood_channel.hpp"

#include <gtest/gtest.h>

#include "neighbourhood.hpp"
#include "p2p/pieces.hpp"

namespace urakata::halo::test {
namespace {

// 8 B both ways: each rank writes one mailbox slot, and no ready flag is stored.
TEST(NeighbourhoodChannel, SmallPayloadsTravelInTheSlotOfTheFlag) {
  Neighbourhood all(2, {channel(0, 1, 8), channel(1, 0, 8)});
  all.join_all();
  for (std::uint64_t k = 1; k <= 5; ++k) {
    for (Rank& rank : all.rank) begin(rank, all, k);
    for (Rank& rank : all.rank) {
      EXPECT_TRUE(test(rank));
      EXPECT_TRUE(holds_all(rank, all, k));
    }
  }
  for (const Rank& rank : all.rank) {
    const Counts& counts = rank.halo->counts();
    EXPECT_EQ(counts.exchanges, 5U);
    EXPECT_EQ(counts.in_slot, 5U);
    EXPECT_EQ(counts.put_flags(), 5U);
    EXPECT_EQ(counts.ready_flags, 0U);
    EXPECT_EQ(counts.copies(), 10U);
    EXPECT_EQ(counts.bytes, 40U);
    EXPECT_EQ(rank.halo->bounce_buffers().bytes, 0U);
  }
}

// 4 KiB both ways: the payload of the rank that begins first takes the bounce buffer, the second rank puts directly.
TEST(NeighbourhoodChannel, PutsStraightWhereTheReceiverHasBegun) {
  Neighbourhood all(2, {channel(0, 1, 4096), channel(1, 0, 4096)}, {.pull_least = UINT64_MAX, .direct_least = 512});
  all.join_all();
  for (std::uint64_t k = 1; k <= 4; ++k) {
    begin(all.rank[0], all, k);
    EXPECT_FALSE(test(all.rank[0]));
    begin(all.rank[1], all, k);
    for (Rank& rank : all.rank) {
      EXPECT_TRUE(test(rank));
      EXPECT_TRUE(holds_all(rank, all, k));
    }
  }
  EXPECT_EQ(all.rank[0].halo->counts().bounced, 4U);
  EXPECT_EQ(all.rank[0].halo->counts().copies(), 4U);
  EXPECT_EQ(all.rank[1].halo->counts().direct, 4U);
  EXPECT_EQ(all.rank[1].halo->counts().copies(), 8U);
  EXPECT_EQ(all.rank[1].halo->counts().ready_flags, 4U);
  EXPECT_EQ(all.rank[0].halo->bounce_buffers().bytes, 8192U);
}

// 4 KiB both ways, pulled: each payload is copied once, by its receiver, and needs no bounce buffer.
TEST(NeighbourhoodChannel, APayloadOfASymmetricRelationIsItsReceiversToCopy) {
  Neighbourhood all(2, {channel(0, 1, 4096), channel(1, 0, 4096)}, {.pull_least = 4096});
  all.join_all();
  for (std::uint64_t k = 1; k <= 4; ++k) {
    begin(all.rank[k % 2], all, k);
    begin(all.rank[1 - k % 2], all, k);
    for (Rank& rank : all.rank) {
      rank.halo->progress();
      EXPECT_TRUE(holds_all(rank, all, k));
    }
    for (Rank& rank : all.rank) EXPECT_TRUE(test(rank));
  }
  for (const Rank& rank : all.rank) {
    EXPECT_EQ(rank.halo->counts().rendezvous, 4U);
    EXPECT_EQ(rank.halo->counts().pieces_received, 4U);
    EXPECT_EQ(rank.halo->counts().copies(), 4U);
    EXPECT_EQ(rank.halo->bounce_buffers().bytes, 0U);
    EXPECT_EQ(rank.halo->bounce_buffers().without, 0U);
  }
}

// Payloads with short blocks take bounce buffers on both sides, up to their own limit. Longer ones are pulled.
TEST(NeighbourhoodChannel, ShortBlocksBounceWhereLongerOnesArePulled) {
  constexpr std::uint64_t kBytes = 128 << 10;
  const auto blocks_of = [](std::uint64_t bytes) { return strided(kBytes / bytes, bytes, 8); };
  for (const std::uint64_t block : {std::uint64_t{8}, std::uint64_t{kLine}}) {
    for (const std::uint64_t most : {kBytes - 1, kBytes}) {
      for (const Form& sent : {blocks_of(block), plain(kBytes)}) {
        const Form received = blocks_of(block);
        Neighbourhood all(2, {{0, 1, sent, received}, {1, 0, sent, received}}, {.short_bounce_most = most});
        all.join_all();
        for (std::uint64_t k = 1; k <= 3; ++k) {
          for (Rank& rank : all.rank) begin(rank, all, k);
          for (unsigned i = 0; i < 2; ++i) {
            for (Rank& rank : all.rank) rank.halo->progress();
          }
          for (Rank& rank : all.rank) {
            EXPECT_TRUE(test(rank));
            EXPECT_TRUE(holds_all(rank, all, k));
          }
        }
        const bool bounces = block < kLine && most == kBytes;
        for (const Rank& rank : all.rank) {
          EXPECT_EQ(rank.halo->counts().bounced, bounces ? 3U : 0U);
          EXPECT_EQ(rank.halo->counts().pieces_received, bounces ? 0U : 3U);
          EXPECT_EQ(rank.halo->counts().ready_flags, bounces ? 0U : 3U);
        }
      }
    }
  }
}

// A receiver that has begun and computes: the sender waits in vain for a while, copies the payload itself, and is done.
TEST(NeighbourhoodChannel, ASenderThatHasWaitedForLongCopiesWhatItsReceiverWasToPull) {
  Neighbourhood all(2, {channel(0, 1, 4096), channel(1, 0, 4096)}, {.pull_least = 4096});
  all.join_all();
  Rank& waits = all.rank[0];
  Rank& computes = all.rank[1];
  begin(computes, all, 1);
  begin(waits, all, 1);
  for (unsigned i = 0; i < 100; ++i) waits.halo->progress();
  EXPECT_TRUE(waits.halo->complete());
  EXPECT_TRUE(holds_all(waits, all, 1));
  EXPECT_EQ(waits.halo->counts().pieces_sent, 1U);
  EXPECT_TRUE(test(computes));
  EXPECT_TRUE(holds_all(computes, all, 1));
  EXPECT_EQ(computes.halo->counts().pieces_received, 0U);
}

// A one-way relation: the sender may be two exchanges ahead of the receiver. The third put is held until the receiver
// has begun its second exchange.
TEST(NeighbourhoodChannel, ACreditComesBackInAOneWayRelation) {
  for (const std::uint64_t bytes : {8U, 4096U}) {
    Neighbourhood all(2, {channel(0, 1, bytes)});
    all.join_all();
    Rank& sender = all.rank[0];
    Rank& receiver = all.rank[1];
    begin(sender, all, 1);
    EXPECT_TRUE(sender.halo->complete());
    begin(sender, all, 2);
    EXPECT_TRUE(sender.halo->complete());
    begin(sender, all, 3);
    EXPECT_FALSE(test(sender));
    EXPECT_EQ(sender.halo->counts().held, 1U);
    begin(receiver, all, 1);
    EXPECT_TRUE(test(receiver));
    EXPECT_TRUE(holds_all(receiver, all, 1));
    EXPECT_FALSE(sender.halo->can_progress());
    EXPECT_FALSE(test(sender));
    begin(receiver, all, 2);
    EXPECT_TRUE(sender.halo->can_progress());
    EXPECT_TRUE(test(sender));
    for (std::uint64_t k = 2; k <= 3; ++k) {
      if (k == 3) begin(receiver, all, k);
      EXPECT_TRUE(test(receiver));
      EXPECT_TRUE(holds_all(receiver, all, k));
    }
    EXPECT_EQ(receiver.halo->counts().ready_flags, 3U);
    EXPECT_EQ(sender.halo->counts().put_flags(), 3U);
  }
}

// Three neighbours that are the same rank, as in a periodic dimension of two: one mailbox slot and one flag serve all
// three, and each payload has its place.
TEST(NeighbourhoodChannel, EndsBetweenTwoRanksShareAChannel) {
  const std::vector<TestChannel> channels{channel(0, 1, 8),  {0, 1, strided(4, 4, 3), plain(16)}, channel(0, 1, 24),
                                          channel(1, 0, 24), {1, 0, plain(16), strided(2, 8, 1)}, channel(1, 0, 8)};
  for (const bool backwards : {false, true}) {
    std::deque<Rank> rank;
    std::vector<Record> records(channels.size());
    for (std::uint32_t r = 0; r < 2; ++r)
      rank.emplace_back(r, channels, std::vector<std::uint32_t>{}, backwards).make({});
    for (Rank& sender : rank) {
      for (std::size_t i = 0; i < 3; ++i) records[sender.sending[i]] = sender.halo->record(i);
    }
    for (Rank& receiver : rank) {
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(receiver.halo->join(i, records[receiver.receiving[i]]), Fit::good);
      }
    }
    for (std::uint64_t k = 1; k <= 4; ++k) {
      for (Rank& sender : rank) {
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_EQ(sender.halo->fit(i), Fit::good);
          const std::size_t number = sender.sending[i];
          sender.fill(i, payload_of(k, number, channels[number].out.bytes()));
        }
        sender.begin();
      }
      for (Rank& receiver : rank) {
        for (std::size_t i = 0; i < 3; ++i) {
          const auto in = receiver.halo->ready_any();
          ASSERT_TRUE(in.has_value());
          const std::size_t number = receiver.receiving[*in];
          EXPECT_TRUE(receiver.holds(*in, payload_of(k, number, channels[number].out.bytes())));
        }
        EXPECT_TRUE(receiver.halo->complete());
      }
    }
    for (const Rank& each : rank) {
      EXPECT_EQ(each.halo->from_near(), 3U);
      EXPECT_EQ(each.halo->counts().in_slot, 4U);
      EXPECT_EQ(each.halo->counts().put_flags(), 4U);
      EXPECT_EQ(each.halo->counts().bytes, 4 * 48U);
    }
  }
}

// 1 MiB without bounce buffers: the payload stays at the sender until both ranks are in the exchange. The second
// copies.
TEST(NeighbourhoodChannel, LargePayloadsAreCopiedByWhoeverComesSecond) {
  constexpr std::uint64_t kBytes = 1 << 20;
  const std::uint64_t pieces = p2p::pieces_of(kBytes, p2p::piece_of(kBytes));
  Neighbourhood all(2, {channel(0, 1, kBytes)});
  all.join_all();
  Rank& sender = all.rank[0];
  Rank& receiver = all.rank[1];
  begin(sender, all, 1);
  EXPECT_FALSE(test(sender));
  begin(receiver, all, 1);
  EXPECT_TRUE(test(receiver));
  EXPECT_TRUE(holds_all(receiver, all, 1));
  EXPECT_TRUE(test(sender));
  EXPECT_EQ(receiver.halo->counts().pieces_received, pieces);

  begin(receiver, all, 2);
  begin(sender, all, 2);
  EXPECT_TRUE(sender.halo->complete());
  EXPECT_TRUE(test(receiver));
  EXPECT_TRUE(holds_all(receiver, all, 2));
  EXPECT_EQ(sender.halo->counts().pieces_sent, pieces);
  EXPECT_EQ(sender.halo->counts().rendezvous, 2U);
  EXPECT_EQ(sender.halo->counts().copies() + receiver.halo->counts().copies(), 2 * pieces);
}

// The receiver sets the length of a piece: 100 000 bytes in pieces of 64 are 1563 pieces, whichever rank copies them.
TEST(NeighbourhoodChannel, ThePiecesAreTheReceivers) {
  Neighbourhood all(2, {channel(0, 1, 100'000)}, {.bounce_most = 0, .pieces = {64, 64}});
  all.rank[0].make({.bounce_most = 0});
  all.join_all();
  begin(all.rank[0], all, 1);
  begin(all.rank[1], all, 1);
  EXPECT_TRUE(test(all.rank[1]));
  EXPECT_EQ(all.rank[1].halo->counts().pieces_received, 1563U);
  EXPECT_TRUE(test(all.rank[0]));
  begin(all.rank[1], all, 2);
  begin(all.rank[0], all, 2);
  EXPECT_TRUE(test(all.rank[0]));
  EXPECT_EQ(all.rank[0].halo->counts().pieces_sent, 1563U);
  EXPECT_TRUE(test(all.rank[1]));
  EXPECT_TRUE(holds_all(all.rank[1], all, 2));
}

// A receiver polls late, when the sender is in its next exchange: the receiver finds no piece of the last one to copy.
TEST(NeighbourhoodChannel, ALateLookClaimsNoPieceOfTheNextExchange) {
  Neighbourhood all(2, {channel(0, 1, 100'000), channel(1, 0, 8)}, {.pull_least = UINT64_MAX, .bounce_most = 0});
  all.join_all();
  for (std::uint64_t k = 1; k <= 6; ++k) {
    begin(all.rank[1], all, k);
    EXPECT_EQ(all.rank[0].halo->complete(), k == 1);  // nothing is under way before the first
    if (k == 1) begin(all.rank[0], all, k);
    EXPECT_TRUE(test(all.rank[0]));  // has copied all pieces
    EXPECT_TRUE(holds_all(all.rank[0], all, k));
    begin(all.rank[0], all, k + 1);
    EXPECT_TRUE(test(all.rank[1]));
    EXPECT_TRUE(holds_all(all.rank[1], all, k));
  }
  EXPECT_EQ(all.rank[1].halo->counts().pieces_received, 0U);
}

// Channels from a rank to itself, twice, beside a neighbour that is named twice: the k-th meets the k-th.
TEST(NeighbourhoodChannel, ChannelsToOneselfAndThoseNamedTwice) {
  for (const std::uint64_t bytes : {8U, 2000U, 300'000U}) {
    Neighbourhood all(2, {channel(0, 0, bytes), channel(0, 1, bytes), channel(0, 0, bytes), channel(0, 1, bytes)});
    all.join_all();
    for (std::uint64_t k = 1; k <= 3; ++k) {
      begin(all.rank[1], all, k);
      begin(all.rank[0], all, k);
      for (Rank& rank : all.rank) {
        EXPECT_TRUE(test(rank));
        EXPECT_TRUE(holds_all(rank, all, k));
      }
    }
  }
}

TEST(NeighbourhoodChannel, EmptyChannelsAndNoNeighboursTakeNothing) {
  Neighbourhood all(3, {channel(0, 1, 0), channel(1, 0, 64)});
  all.join_all();
  for (Rank& rank : all.rank) begin(rank, all, 1);
  EXPECT_TRUE(all.rank[2].halo->complete());
  EXPECT_TRUE(all.rank[1].halo->ready(0));
  EXPECT_EQ(all.rank[1].halo->ready_any(), 0U);
  EXPECT_EQ(all.rank[1].halo->ready_any(), std::nullopt);
  EXPECT_TRUE(all.rank[1].halo->complete());
  EXPECT_TRUE(test(all.rank[0]));
  EXPECT_EQ(all.rank[0].halo->counts().put_flags(), 0U);
  EXPECT_EQ(all.rank[0].halo->counts().ready_flags, 1U);  // an empty channel proves nothing
}

// Three neighbours put in the order 2, 0, 1.
TEST(NeighbourhoodChannel, TellsOfChannelsInTheOrderOfTheirComing) {
  Neighbourhood all(4, {channel(0, 3, 8), channel(1, 3, 4096), channel(2, 3, 500'000)});
  all.join_all();
  Rank& last = all.rank[3];
  begin(last, all, 1);
  for (const std::size_t from : {2U, 0U, 1U}) {
    EXPECT_EQ(last.halo->ready_any(), std::nullopt);
    EXPECT_FALSE(last.halo->ready(from));
    begin(all.rank[from], all, 1);
    EXPECT_TRUE(from == 0 || last.halo->ready(from));
    EXPECT_EQ(last.halo->ready_any(), from);
  }
  EXPECT_TRUE(last.halo->complete());
  EXPECT_TRUE(holds_all(last, all, 1));
}

TEST(NeighbourhoodChannel, LayoutsMeetWithNoBufferBetweenWhereTheReceiverIsThere) {
  std::vector<TestChannel> channels;
  channels.push_back({0, 1, strided(6, 8, 24), strided(3, 16, 8)});
  channels.push_back({0, 1, strided(64, 64, 8), plain(4096)});
  channels.push_back({0, 1, plain(240'000), strided(2400, 100, 4)});
  Neighbourhood all(2, channels);
  all.join_all();
  for (std::uint64_t k = 1; k <= 4; ++k) {
    begin(all.rank[k % 2], all, k);
    begin(all.rank[1 - k % 2], all, k);
    EXPECT_TRUE(test(all.rank[1]));
    EXPECT_TRUE(test(all.rank[0]));
    EXPECT_TRUE(holds_all(all.rank[1], all, k));
  }
  EXPECT_EQ(all.rank[0].halo->counts().direct, 2U);
  EXPECT_EQ(all.rank[0].halo->counts().bounced, 2U);
}

}  // namespace
}  // namespace urakata::halo::test
