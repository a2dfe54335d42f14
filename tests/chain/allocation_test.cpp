// SPDX-License-Identifier: BSD-3-Clause
// Starts of operations take no memory once as many have been under way before.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../counted_allocations.hpp"
#include "chain/channel_set.hpp"
#include "chain/compile.hpp"
#include "chain/submitter.hpp"
#include "connected.hpp"
#include "schedule/builder.hpp"

namespace urakata::chain {
namespace {

constexpr std::uint64_t kEchoed = 3000;
constexpr std::size_t kOutstanding = 3;

// Rank 0 sends pieces of 300 bytes, of which rank 1 sends back each: in one chain, or in two with gates.
ChainedSchedule echo_schedule(std::uint32_t rank, std::uint64_t short_bytes) {
  schedule::Builder builder("echo", 2, rank);
  const schedule::Chunks chunks = schedule::cut(kEchoed, 300);
  if (rank == 0) {
    builder.send(1, {.buffer = schedule::kSendBuffer}, chunks, {});
    builder.recv(1, {.buffer = schedule::kRecvBuffer}, chunks, {});
  } else {
    const auto in = builder.recv(0, {.buffer = schedule::kRecvBuffer}, chunks, {});
    builder.each(in, builder.send(0, {.buffer = schedule::kRecvBuffer}, chunks, {}));
  }
  return *compile(*builder.commit(), {.short_bytes = short_bytes});
}

TEST(ChannelSetAllocation, StartsTakeNothing) {
  if (const std::string why = why_no_chains(); !why.empty()) GTEST_SKIP() << why;
  Submitter submitter;
  const std::array<int, 2> sockets = connected();
  std::array<std::unique_ptr<ChannelSet>, 2> channel_sets;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    std::vector<Peer> peers(2);
    peers[1 - rank] = {sockets[rank], static_cast<std::int32_t>(1 - rank)};
    channel_sets[rank] = std::move(*ChannelSet::open(std::move(peers), 0, submitter, 60'000'000'000));
  }
  std::array<std::array<std::vector<std::byte>, 2>, kOutstanding> sent, received;  // of each operation, by rank
  for (std::size_t i = 0; i < kOutstanding; ++i) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      sent[i][rank].resize(kEchoed);
      received[i][rank].resize(kEchoed);
    }
  }
  std::array<std::vector<ChannelSet::Done>, 2> done;
  for (const std::uint64_t short_bytes : {kShortBytes, std::uint64_t{0}}) {
    const std::array<ChainedSchedule, 2> schedules{echo_schedule(0, short_bytes), echo_schedule(1, short_bytes)};
    std::uint64_t before = 0;
    for (unsigned round = 0; round < 20; ++round) {
      if (round == 1) before = urakata::test::allocations.load();
      for (std::size_t i = 0; i < kOutstanding; ++i) {
        sent[i][0].assign(kEchoed, static_cast<std::byte>(1 + round * kOutstanding + i));
        for (std::size_t rank = 0; rank < 2; ++rank) {
          const std::array<std::byte*, 2> buffers{sent[i][rank].data(), received[i][rank].data()};
          EXPECT_TRUE(channel_sets[rank]->start(schedules[rank], buffers, &sent[i]));
        }
      }
      while (done[0].size() < kOutstanding || done[1].size() < kOutstanding) {
        for (std::size_t rank = 0; rank < 2; ++rank) channel_sets[rank]->reap(done[rank]);
      }
      for (std::size_t i = 0; i < kOutstanding; ++i) EXPECT_EQ(received[i][0], sent[i][0]);
      for (auto& ended : done) ended.clear();
    }
    EXPECT_EQ(urakata::test::allocations.load(), before);
    EXPECT_GT(before, 0U);
  }
  submitter.stop();
}

}  // namespace
}  // namespace urakata::chain
