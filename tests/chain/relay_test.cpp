// SPDX-License-Identifier: BSD-3-Clause
// Channel sets of three ranks in one process, rank 1 between the two others, each connection by way of a proxy: rank 0
// sends a message in pieces down to rank 2, which answers when it has all of it.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chain/channel_set.hpp"
#include "chain/compile.hpp"
#include "chain/submitter.hpp"
#include "connected.hpp"
#include "proxy.hpp"
#include "schedule/builder.hpp"
#include "transport/wire/sockets.hpp"

namespace urakata::chain {
namespace {

using schedule::Builder;
using schedule::kRecvBuffer;

constexpr std::size_t kRelayRanks = 3;
constexpr std::size_t kRelayLinks = 2;
constexpr std::uint64_t kAnswer = 8;                    // bytes, behind the message
constexpr std::uint64_t kNeverSilent = 60'000'000'000;  // ns
constexpr std::uint64_t kSoonSilent = 1'000'000'000;

struct Shape {
  std::uint64_t bytes, piece, short_bytes;
};

ChainedSchedule relay_schedule(std::uint32_t rank, const Shape& shape) {
  Builder builder("relay", kRelayRanks, rank);
  const schedule::Chunks chunks = schedule::cut(shape.bytes, shape.piece);
  const schedule::Place message{.buffer = kRecvBuffer};
  const schedule::Place answer{.buffer = kRecvBuffer, .offset = static_cast<std::int64_t>(shape.bytes)};
  if (rank == 0) {
    builder.send(1, message, chunks);
    builder.recv(1, answer, kAnswer, 1);
  } else if (rank == 1) {
    const auto in = builder.recv(0, message, chunks);
    builder.each(in, builder.send(2, message, chunks));
    const auto back = builder.recv(2, answer, kAnswer, 1);
    builder.after(back, builder.send(0, answer, kAnswer, 1));
  } else {
    const auto in = builder.recv(1, message, chunks);
    builder.after(in, builder.send(1, answer, kAnswer, 1));
  }
  return *compile(*builder.commit(), {.short_bytes = shape.short_bytes});
}

using Plans = std::array<Proxy::Plan, kRelayLinks>;

class Relay {
 public:
  Relay(Submitter& submitter, const Shape& shape, const Plans& plans, std::uint64_t timeout_ns) {
    std::array<std::vector<Peer>, kRelayRanks> peers;
    for (auto& of_rank : peers) of_rank.resize(kRelayRanks);
    for (std::size_t link = 0; link < kRelayLinks; ++link) {
      std::array<int, 2> proxied{};
      for (std::size_t side = 0; side < 2; ++side) {
        const auto [own, other] = connected();
        transport::keep_alive(own, timeout_ns);
        for (const int one : {own, other}) transport::set_option(one, IPPROTO_TCP, TCP_NODELAY, 1);
        peers[link + side][link + 1 - side] = {own, static_cast<std::int32_t>(link + 1 - side)};
        proxied[side] = other;
      }
      proxies_[link] = std::make_unique<Proxy>(proxied, plans[link]);
    }
    whole_.resize(shape.bytes + kAnswer);
    for (std::size_t i = 0; i < whole_.size(); ++i) whole_[i] = static_cast<std::byte>(i * 7 + i / 251 + 1);
    for (std::uint32_t rank = 0; rank < kRelayRanks; ++rank) {
      auto made = ChannelSet::open(std::move(peers[rank]), 0, submitter, timeout_ns);
      EXPECT_TRUE(made.ok()) << made.error().message;
      channel_sets_[rank] = std::move(*made);
      schedules_[rank] = relay_schedule(rank, shape);
      data_[rank].resize(whole_.size());
    }
    std::copy_n(whole_.begin(), shape.bytes, data_[0].begin());
    std::copy_n(whole_.end() - kAnswer, kAnswer, data_[2].end() - kAnswer);
  }

  void start() {
    for (std::size_t rank = 0; rank < kRelayRanks; ++rank) EXPECT_TRUE(start(rank)) << rank;
  }
  bool start(std::size_t rank) {
    const std::array<std::byte*, 2> buffers{data_[rank].data(), data_[rank].data()};
    return channel_sets_[rank]->start(schedules_[rank], buffers, this);
  }
  // Polls once; has the operation ended on all ranks?
  bool over() {
    for (std::size_t rank = 0; rank < kRelayRanks; ++rank) channel_sets_[rank]->reap(done_[rank]);
    return std::ranges::none_of(done_, [](const auto& done) { return done.empty(); });
  }
  bool failed(std::size_t rank) const { return done_[rank][0].failed; }
  // Who has no error has what he is to have; after an error nothing begins.
  void expect_no_wrong_data() {
    for (std::size_t rank = 0; rank < kRelayRanks; ++rank) {
      ASSERT_EQ(done_[rank].size(), 1U);
      if (!failed(rank)) {
        EXPECT_EQ(data_[rank], whole_) << rank;
      } else {
        EXPECT_FALSE(start(rank)) << rank;
      }
    }
  }

 private:
  std::array<std::unique_ptr<Proxy>, kRelayLinks> proxies_;  // end after the channel sets
  std::vector<std::byte> whole_;                             // the message and its answer
  std::array<std::vector<std::byte>, kRelayRanks> data_;
  std::array<ChainedSchedule, kRelayRanks> schedules_;
  std::array<std::unique_ptr<ChannelSet>, kRelayRanks> channel_sets_;
  std::array<std::vector<ChannelSet::Done>, kRelayRanks> done_;
};

// A break of a link: after so many bytes, on their way down or, of the answer, back.
struct Break {
  std::size_t link, way;
  std::uint64_t after;

  Plans plans(Proxy::Fate fate) const {
    Plans made{};
    made[link] = {.fate = fate, .way = link_way(), .after = after, .most = 5};
    return made;
  }
  std::size_t link_way() const { return way; }
  // The message never comes to its end, so there is no answer for anybody; or the answer is lost for those before the
  // break, while those behind it need no more.
  bool ends_with_an_error(std::size_t rank) const { return way == 0 || rank <= link; }
  std::string words() const {
    return "link " + std::to_string(link) + (way == 0 ? ", down, after " : ", back, after ") + std::to_string(after);
  }
};

class Proxied : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_chains(); !why.empty()) GTEST_SKIP() << why;
  }
  void TearDown() override { submitter_.stop(); }

  Submitter submitter_;
};

// A request of a chain may see its bytes come one by one: the next one waits for all of them.
TEST_F(Proxied, BytesThatComeInSmallPiecesAreWaitedFor) {
  struct Piecewise {
    std::uint64_t bytes;
    std::size_t most;
  };
  for (const auto& [bytes, most] : {Piecewise{1, 1}, {40, 1}, {8192, 1}, {8193, 3}, {40'000, 100}, {500'000, 1000}}) {
    for (const std::uint64_t short_bytes : {std::uint64_t{0}, kShortBytes}) {
      Relay relay(submitter_, {bytes, bytes / 7 + 1, short_bytes}, {Proxy::Plan{.most = most}, {.most = most}},
                  kNeverSilent);
      relay.start();
      while (!relay.over()) continue;
      for (std::size_t rank = 0; rank < kRelayRanks; ++rank) EXPECT_FALSE(relay.failed(rank)) << bytes << " " << rank;
      relay.expect_no_wrong_data();
    }
  }
}

TEST_F(Proxied, WhereverAConnectionIsResetEveryOperationEnds) {
  constexpr std::uint64_t kBytes = 40;
  std::vector<Break> breaks;
  for (const std::size_t link : {0U, 1U}) {
    for (std::uint64_t after = 0; after < kBytes; after += 3) breaks.push_back({link, 0, after});
    for (std::uint64_t after = 0; after < kAnswer; after += 3) breaks.push_back({link, 1, after});
  }
  for (const Break& one : breaks) {
    for (const std::uint64_t short_bytes : {std::uint64_t{0}, kShortBytes}) {
      Relay relay(submitter_, {kBytes, 4, short_bytes}, one.plans(Proxy::Fate::reset), kNeverSilent);
      relay.start();
      while (!relay.over()) continue;
      for (std::size_t rank = 0; rank < kRelayRanks; ++rank) {
        EXPECT_TRUE(relay.failed(rank) || !one.ends_with_an_error(rank)) << one.words() << ", rank " << rank;
      }
      relay.expect_no_wrong_data();
    }
  }
}

// Within a bound, here of two seconds; the relays wait for it side by side.
TEST_F(Proxied, WhereverAConnectionFallsSilentEveryOperationEnds) {
  constexpr std::array<Break, 6> kBreaks{{{0, 0, 0}, {0, 0, 21}, {0, 1, 3}, {1, 0, 0}, {1, 0, 21}, {1, 1, 3}}};
  std::vector<std::unique_ptr<Relay>> relays;
  for (std::size_t i = 0; i < kBreaks.size(); ++i) {
    const Shape shape{40, 4, i % 2 == 0 ? 0 : kShortBytes};
    relays.push_back(std::make_unique<Relay>(submitter_, shape, kBreaks[i].plans(Proxy::Fate::silence), kSoonSilent));
    relays.back()->start();
  }
  for (std::size_t i = 0; i < kBreaks.size(); ++i) {
    while (!relays[i]->over()) {
      for (const auto& other : relays) other->over();
    }
    for (std::size_t rank = 0; rank < kRelayRanks; ++rank) {
      EXPECT_TRUE(relays[i]->failed(rank) || !kBreaks[i].ends_with_an_error(rank))
          << kBreaks[i].words() << ", rank " << rank;
    }
    relays[i]->expect_no_wrong_data();
  }
}

}  // namespace
}  // namespace urakata::chain
