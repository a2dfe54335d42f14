// SPDX-License-Identifier: BSD-3-Clause
// Channels between nodes, step by step: one thread plays all ranks, each in its own space, and delivers the frames.
#include <gtest/gtest.h>

#include "halo/neighbourhood_channel.hpp"
#include "neighbourhood.hpp"

namespace urakata::halo::test {
namespace {

constexpr std::uint64_t kLarge = 600 << 10;  // more than two slices

// Both ranks send 4 KiB and neither waits for an answer: one frame each, from the first rank and from the late one.
TEST(FarChannels, NoRtsAndNoCtsWhereTheRelationIsSymmetric) {
  Neighbourhood all(2, {channel(0, 1, 4096), channel(1, 0, 4096)}, {}, {0, 1});
  all.join_all();
  all.deliver();
  for (std::uint64_t k = 1; k <= 4; ++k) {
    begin(all.rank[0], all, k);
    EXPECT_FALSE(test(all.rank[0]));
    all.deliver(7);  // to a receiver that has not begun: into its bounce buffer
    begin(all.rank[1], all, k);
    EXPECT_TRUE(test(all.rank[1]));
    EXPECT_FALSE(all.rank[0].halo->can_progress());
    all.deliver(7);  // straight into the elements
    EXPECT_TRUE(all.rank[0].halo->can_progress());
    for (Rank& rank : all.rank) {
      EXPECT_TRUE(test(rank));
      EXPECT_TRUE(holds_all(rank, all, k));
    }
  }
  EXPECT_EQ(all.rank[0].halo->counts().put_frames, 4U);
  EXPECT_EQ(all.rank[0].halo->counts().ready_flags, 0U);
  EXPECT_EQ(all.rank[0].halo->counts().unpacked, 0U);
  EXPECT_EQ(all.rank[1].halo->counts().unpacked, 4U);
  EXPECT_EQ(all.rank[0].halo->from_far(), 1U);
  EXPECT_EQ(all.rank[0].halo->from_near(), 0U);
  EXPECT_FALSE(all.rank[0].halo->any_near());
  EXPECT_EQ(all.network.refused(), 0U);
}

// A one-way relation. The third put of a sender that is two exchanges ahead of its receiver is held.
TEST(FarChannels, ACreditComesBackInAOneWayRelation) {
  Neighbourhood all(2, {channel(0, 1, 8)}, {}, {0, 1});
  all.join_all();
  all.deliver();
  Rank& sender = all.rank[0];
  Rank& receiver = all.rank[1];
  for (std::uint64_t k = 1; k <= 3; ++k) {
    begin(sender, all, k);
    EXPECT_EQ(sender.halo->complete(), k < 3);
    all.deliver();
  }
  EXPECT_FALSE(sender.halo->can_progress());
  for (std::uint64_t k = 1; k <= 2; ++k) {
    begin(receiver, all, k);
    EXPECT_TRUE(test(receiver));
    EXPECT_TRUE(holds_all(receiver, all, k));
    all.deliver();
    EXPECT_EQ(sender.halo->can_progress(), k == 2);
  }
  EXPECT_TRUE(test(sender));
  begin(receiver, all, 3);
  all.deliver();
  EXPECT_TRUE(test(receiver));
  EXPECT_TRUE(holds_all(receiver, all, 3));
  EXPECT_EQ(sender.halo->counts().held, 1U);
  EXPECT_EQ(receiver.halo->counts().ready_flags, 3U);
}

// Before the receiver's answer is here nothing goes.
TEST(FarChannels, PutsAreHeldUntilTheChannelIsJoined) {
  Neighbourhood all(2, {channel(0, 1, 100), channel(1, 0, 100)}, {}, {0, 1});
  begin(all.rank[0], all, 1);
  all.join_all();
  EXPECT_FALSE(all.rank[0].halo->can_progress());
  all.deliver();
  EXPECT_TRUE(all.rank[0].halo->can_progress());
  EXPECT_FALSE(test(all.rank[0]));
  begin(all.rank[1], all, 1);
  all.deliver();
  for (Rank& rank : all.rank) {
    EXPECT_TRUE(test(rank));
    EXPECT_TRUE(holds_all(rank, all, 1));
  }
}

// 600 KiB without a bounce buffer, strided on one side or the other: the sender waits for the receiver and then sends
// three slices.
TEST(FarChannels, LargePayloadsAskAndGoInSlices) {
  const Form rows = strided(kLarge / 1024, 1024, 24);
  Neighbourhood all(2, {{0, 1, rows, plain(kLarge)}, {0, 1, plain(kLarge), rows}}, {}, {0, 1});
  all.leaves = false;
  all.join_all();
  all.deliver();
  EXPECT_EQ(all.rank[1].halo->bounce_buffers().bytes, transport::PutWire::kSlice);
  EXPECT_EQ(all.rank[1].halo->bounce_buffers().without, 2U);
  EXPECT_EQ(all.rank[1].halo->bounce_buffers().refused, 0U);
  for (std::uint64_t k = 1; k <= 3; ++k) {
    begin(all.rank[0], all, k);
    all.deliver();
    EXPECT_FALSE(all.rank[0].halo->can_progress());
    begin(all.rank[1], all, k);
    unsigned steps = 0;
    for (bool over = false; !over && steps < 20; ++steps) {
      all.deliver(1001);
      const bool first = test(all.rank[0]);
      const bool second = test(all.rank[1]);
      over = first && second;
    }
    EXPECT_LE(steps, 5U);
    EXPECT_TRUE(holds_all(all.rank[1], all, k));
  }
  EXPECT_EQ(all.rank[0].halo->counts().put_frames, 3 * 2 * 3U);
}

// A receiver begins in the middle of a payload of several slices: it unpacks the bytes in its bounce buffer, and the
// rest follows.
TEST(FarChannels, AReceiverMayBeginInTheMiddleOfAPayload) {
  const Form rows = strided(kLarge / 1024, 1024, 24);
  Neighbourhood all(2, {{0, 1, rows, rows}, channel(1, 0, 8)}, {.bounce_budget = 4 << 20, .far_bounce_most = 1 << 20},
                    {0, 1});
  all.join_all();
  all.deliver();
  for (const std::size_t before : {300'000U, 100U, 500'000U}) {
    static std::uint64_t k = 0;
    ++k;
    begin(all.rank[0], all, k);
    all.network.of(1).poll(before);
    begin(all.rank[1], all, k);
    EXPECT_FALSE(test(all.rank[1]));
    all.deliver();
    for (Rank& rank : all.rank) {
      EXPECT_TRUE(test(rank));
      EXPECT_TRUE(holds_all(rank, all, k));
    }
  }
}

// Channels beyond the budget ask.
TEST(FarChannels, BounceBuffersKeepWithinTheBudget) {
  Neighbourhood all(2, {channel(0, 1, 1000), channel(0, 1, 1000), channel(0, 1, 100)}, {.bounce_budget = 2500}, {0, 1});
  EXPECT_EQ(all.rank[1].halo->bounce_buffers().bytes, 2 * 1024U + 2 * 128U);
  all.join_all();
  all.deliver();
  begin(all.rank[0], all, 1);
  EXPECT_EQ(all.rank[0].halo->counts().held, 1U);
  begin(all.rank[1], all, 1);
  all.deliver();
  EXPECT_TRUE(test(all.rank[0]));
  all.deliver();
  EXPECT_TRUE(test(all.rank[1]));
  EXPECT_TRUE(holds_all(all.rank[1], all, 1));
}

// Memory for slices of elements with holes is part of the budget, also at senders, and bounce buffers get the rest.
// The payload has 40 KiB with holes. The sender needs memory to pack one slice, and the receiver might need as much to
// unpack one. A budget for two bounce buffers is therefore too small for them.
TEST(FarChannels, RoomForSlicesIsPartOfTheBudget) {
  constexpr std::uint64_t kBytes = 40 << 10;
  const Form rows = strided(40, 1024, 24);
  for (const std::uint64_t budget : {2 * kBytes, 3 * kBytes}) {
    Neighbourhood all(2, {{0, 1, rows, rows}}, {.bounce_budget = budget}, {0, 1});
    EXPECT_EQ(all.rank[0].halo->bounce_buffers().bytes, kBytes);
    const BounceBuffers& bounce_buffers = all.rank[1].halo->bounce_buffers();
    EXPECT_EQ(bounce_buffers.bytes, budget == 2 * kBytes ? kBytes : 2 * kBytes);
    EXPECT_EQ(bounce_buffers.refused, budget == 2 * kBytes ? 1U : 0U);
  }
}

TEST(FarChannels, BothEndsAreToldThatTheyDoNotFit) {
  Neighbourhood all(2, {{0, 1, plain(9), plain(8)}, {0, 1, plain(0), plain(3)}, {0, 1, plain(0), plain(0)}}, {},
                    {0, 1});
  EXPECT_EQ(all.rank[1].halo->join(0, all.record(0)), Fit::sender_longer);
  EXPECT_EQ(all.rank[1].halo->join(1, all.record(1)), Fit::sender_shorter);
  EXPECT_EQ(all.rank[1].halo->join(2, all.record(2)), Fit::good);
}

// Four ranks in a ring, in two spaces. One link breaks: the neighbourhood channels of all four ranks fail, those
// without a part in the link in the next exchange at the latest. No rank waits for ever, and later payloads are
// written nowhere.
TEST(FarChannels, OneLostLinkEndsAllChannelsThatHangTogether) {
  for (const unsigned which : {0U, 1U, 2U, 3U}) {
    const bool idle = which % 2 != 0;
    const Costs costs{.pull_least = which < 2 ? UINT64_MAX : 0};
    std::vector<TestChannel> ring;
    for (std::uint32_t r = 0; r < 4; ++r) {
      ring.push_back(channel(r, (r + 1) % 4, 5000));
      ring.push_back(channel((r + 1) % 4, r, 5000));
    }
    Neighbourhood all(4, ring, costs, {0, 0, 1, 1});
    all.join_all();
    all.deliver();
    for (std::uint32_t r = 0; !idle && r < 4; ++r) {
      if (r != 2) begin(all.rank[r], all, 1);
    }
    all.network.of(1).lose(2);
    all.network.of(2).lose(1);
    for (std::uint32_t r = 0; r < 4; ++r) {
      if (idle || r == 2) begin(all.rank[r], all, 1);
    }
    for (std::uint64_t k = 1; k <= 3; ++k) {
      std::array<bool, 4> over{};
      for (unsigned step = 0; step < 300; ++step) {
        all.deliver(100);
        for (std::size_t r = 0; r < 4; ++r) over[r] = test(all.rank[r]);
      }
      for (std::size_t r = 0; r < 4; ++r) {
        EXPECT_TRUE(over[r]) << r;
        EXPECT_TRUE(k == 1 || all.rank[r].halo->failed()) << r;
        if (k < 3) holds_all(all.rank[r], all, k);  // clears
        if (k < 3) begin(all.rank[r], all, k + 1);
      }
    }
    for (Rank& rank : all.rank) {
      for (std::size_t i = 0; i < rank.receiving.size(); ++i) EXPECT_TRUE(rank.holds(i, Bytes(5000, std::byte{0xEE})));
    }
  }
}

// 8 bytes to a rank that sends nothing itself and is lost before it has joined the channel: the sender's exchange ends
// with an error, whenever the rank is lost.
TEST(FarChannels, ASenderWhoseReceiverNeverJoinsFails) {
  for (const unsigned moment : {0U, 1U, 2U}) {
    Neighbourhood all(2, {channel(0, 1, 8)}, {}, {0, 1});
    Rank& sender = all.rank[0];
    if (moment == 0) all.network.of(0).lose(1);
    all.record(0);
    if (moment == 1) all.network.of(0).lose(1);
    begin(sender, all, 1);
    EXPECT_EQ(sender.halo->complete(), moment != 2);
    if (moment == 2) all.network.of(0).lose(1);
    EXPECT_TRUE(test(sender)) << moment;
    EXPECT_TRUE(sender.halo->failed()) << moment;
  }
}

// As soon as the sink is registered, any thread that polls the wire may report a lost neighbour.
TEST(FarChannels, AreCompleteWhenTheWireKnowsOfThem) {
  const std::vector<TestChannel> channels = {channel(0, 1, 8)};
  PutNetwork network(2, [] { return true; });
  for (std::uint32_t r = 0; r < 2; ++r) {
    Rank rank(r, channels, {0, 1});
    const auto other = static_cast<std::int32_t>(1 - r);
    network.of(r).when_added = [other](transport::PutSink& sink) { sink.lost(other); };
    rank.make({}, &network.of(r));
    EXPECT_TRUE(rank.halo->failed());
  }
}

// Frames that no correct sender would send end the connection and write nothing.
TEST(FarChannels, WrongFramesAreRefused) {
  using transport::Frame;
  using transport::FrameKind;
  struct Nobody final : transport::PutSink {
    std::byte* place(std::int32_t, const Frame&) override { return nullptr; }
    bool arrived(std::int32_t, const Frame&) override { return false; }
    void left(std::uint32_t) override {}
    bool lost(std::int32_t) override { return false; }
  } nobody;
  const Bytes payload(4096);
  const auto put = [](std::uint64_t channel, std::uint64_t k, std::uint64_t bytes) {
    return Frame{.kind = FrameKind::put, .tag = 0, .bytes = bytes, .id = channel << 32U | k};
  };
  for (const Frame& frame : {put(0, 1, 101), put(0, 2, 100), put(1, 1, 100), put(2, 1, 100), put(3, 1, 600),
                             Frame{.kind = FrameKind::put_open, .id = 7UL << 32U}}) {
    Neighbourhood all(3, {channel(0, 1, 100), channel(2, 1, 100), channel(0, 1, kLarge)}, {}, {0, 1, 2});
    all.join_all();
    all.deliver();
    all.network.of(0).put(1, frame, payload.data(), nobody, 0);
    all.deliver();
    EXPECT_EQ(all.network.refused(), 1U);
  }
}

}  // namespace
}  // namespace urakata::halo::test
