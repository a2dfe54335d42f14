// SPDX-License-Identifier: BSD-3-Clause
// Channel sets joined by real connections, in one process: rank 0 sends rank 1 what their schedules say.
#include "chain/channel_set.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <thread>

#include "base/clock.hpp"
#include "chain/compile.hpp"
#include "chain/rings.hpp"
#include "chain/submitter.hpp"
#include "connected.hpp"
#include "schedule/builder.hpp"

namespace {
bool no_epoll = false;  // whether the kernel has no memory for another entry of an epoll set
}  // namespace

// In the C library's place.
extern "C" int epoll_ctl(int set, int operation, int descriptor, epoll_event* event) {
  if (no_epoll && operation == EPOLL_CTL_ADD) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(syscall(SYS_epoll_ctl, set, operation, descriptor, event));
}

namespace urakata::chain {
namespace {

using schedule::Builder;
using schedule::kRecvBuffer;
using schedule::kSendBuffer;

constexpr std::uint64_t kTimeout = 5'000'000'000;

// One end: its buffers and what has ended on it.
struct End {
  std::unique_ptr<ChannelSet> channel_set;
  std::vector<ChannelSet::Done> done = {};

  // Polls until so many operations have ended. A test that waits for ever is ended by its runner.
  void wait(std::size_t count) {
    while (done.size() < count) channel_set->reap(done);
  }
};

class Joined : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_chains(); !why.empty()) GTEST_SKIP() << why;
    std::array<int, 2> sockets = connected();
    for (std::size_t rank = 0; rank < 2; ++rank) {
      std::vector<Peer> peers(2);
      for (std::size_t other = 0; other < 2; ++other) peers[other].rank = static_cast<std::int32_t>(other);
      peers[1 - rank].socket = sockets[rank];
      sockets_[rank] = sockets[rank];
      auto made = ChannelSet::open(std::move(peers), static_cast<std::int32_t>(rank), submitter_, kTimeout);
      ASSERT_TRUE(made.ok()) << made.error().message;
      ends_[rank].channel_set = std::move(*made);
    }
  }
  void TearDown() override { submitter_.stop(); }

  // Each sends its send buffer and receives into its receive buffer, in pieces.
  static ChainedSchedule swap_of(std::uint32_t rank, std::uint64_t bytes, std::uint64_t piece,
                                 std::uint64_t short_bytes) {
    Builder builder("swap", 2, rank);
    const schedule::Chunks chunks = schedule::cut(bytes, piece);
    builder.recv(1 - rank, {.buffer = kRecvBuffer}, chunks, {});
    builder.send(1 - rank, {.buffer = kSendBuffer}, chunks, {});
    return *compile(*builder.commit(), {.short_bytes = short_bytes});
  }

  Submitter submitter_;
  std::array<End, 2> ends_;
  std::array<int, 2> sockets_{};  // the channel sets'
};

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(i * 7 + seed * 13 + 1);
  return made;
}

// An operation of both ends, with buffers of its own.
struct Swap {
  std::array<std::vector<std::byte>, 2> out, in;

  Swap(std::size_t bytes, unsigned seed) {
    for (unsigned rank = 0; rank < 2; ++rank) {
      out[rank] = pattern(bytes, 2 * seed + rank);
      in[rank].resize(bytes);
    }
  }
  bool start(End& end, std::size_t rank, const ChainedSchedule& schedule) {
    const std::array<std::byte*, 2> buffers{out[rank].data(), in[rank].data()};
    return end.channel_set->start(schedule, buffers, this);
  }
  void expect_swapped() const {
    EXPECT_EQ(in[0], out[1]);
    EXPECT_EQ(in[1], out[0]);
  }
};

TEST_F(Joined, OperationsOfAllSizesMoveTheRightBytes) {
  for (const std::uint64_t bytes : {1UL, 64UL, 8192UL, 8193UL, 100'000UL, 5'000'000UL}) {
    for (const std::uint64_t piece : {bytes, bytes / 7 + 1}) {
      const std::array<ChainedSchedule, 2> schedules{swap_of(0, bytes, piece, kShortBytes),
                                                     swap_of(1, bytes, piece, kShortBytes)};
      Swap swap(bytes, 3);
      for (std::size_t rank = 0; rank < 2; ++rank) {
        ends_[rank].done.clear();
        ASSERT_TRUE(swap.start(ends_[rank], rank, schedules[rank]));
      }
      while (ends_[0].done.empty() || ends_[1].done.empty()) {
        for (End& end : ends_) end.channel_set->reap(end.done);
      }
      swap.expect_swapped();
      EXPECT_FALSE(ends_[0].done[0].failed || ends_[1].done[0].failed);
      EXPECT_EQ(ends_[0].done[0].whose, &swap);
    }
  }
}

// Many are in flight at once on one side before the other begins; they end in the order of their starts. Some need a
// larger ring than there is, which then takes over in their midst.
TEST_F(Joined, OperationsInFlightKeepTheirOrder) {
  constexpr std::size_t kOperations = 40;
  std::vector<std::unique_ptr<Swap>> swaps;
  std::vector<std::array<ChainedSchedule, 2>> schedules;
  for (std::size_t i = 0; i < kOperations; ++i) {
    const std::uint64_t bytes = i % 3 == 0 ? 40'000 : 10 + i;
    const std::uint64_t piece = i == 21 ? 30 : i % 3 == 0 ? 10'000 : 5;  // the 22nd has 1334 pieces each way
    schedules.push_back({swap_of(0, bytes, piece, kShortBytes), swap_of(1, bytes, piece, kShortBytes)});
    swaps.push_back(std::make_unique<Swap>(bytes, static_cast<unsigned>(i)));
  }
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (std::size_t i = 0; i < kOperations; ++i) {
      ASSERT_TRUE(swaps[i]->start(ends_[rank], rank, schedules[i][rank]));
    }
  }
  EXPECT_EQ(ends_[0].channel_set->in_flight(), kOperations);
  while (ends_[0].done.size() < kOperations || ends_[1].done.size() < kOperations) {
    for (End& end : ends_) end.channel_set->reap(end.done);
  }
  for (std::size_t i = 0; i < kOperations; ++i) {
    swaps[i]->expect_swapped();
    EXPECT_EQ(ends_[0].done[i].whose, swaps[i].get());
    EXPECT_FALSE(ends_[0].done[i].failed || ends_[1].done[i].failed);
  }
  EXPECT_EQ(ends_[0].channel_set->in_flight(), 0U);
}

// Without a call once all have been started, on both sides: with chains of every kind behind each other, and those that
// need a larger ring. What has come shows in memory.
TEST_F(Joined, OperationsBehindOthersGoOnWithoutACall) {
  struct Kind {
    std::uint64_t bytes, piece, short_bytes;
  };
  constexpr Kind kOne{100, 10, kShortBytes};
  constexpr Kind kStreams{100'000, 10'000, 0};
  constexpr Kind kLong{3000, 1, 0};
  for (const std::vector<Kind>& kinds : std::vector<std::vector<Kind>>{{kOne, kOne},
                                                                       {kOne, kStreams},
                                                                       {kStreams, kOne},
                                                                       {kStreams, kStreams},
                                                                       {kOne, kLong, kOne},
                                                                       std::vector<Kind>(20, kStreams)}) {
    std::vector<std::array<ChainedSchedule, 2>> schedules;
    std::vector<std::unique_ptr<Swap>> swaps;
    for (const Kind& kind : kinds) {
      schedules.push_back(
          {swap_of(0, kind.bytes, kind.piece, kind.short_bytes), swap_of(1, kind.bytes, kind.piece, kind.short_bytes)});
      swaps.push_back(std::make_unique<Swap>(kind.bytes, static_cast<unsigned>(swaps.size())));
    }
    for (std::size_t rank = 0; rank < 2; ++rank) {
      for (std::size_t i = 0; i < kinds.size(); ++i)
        ASSERT_TRUE(swaps[i]->start(ends_[rank], rank, schedules[i][rank]));
    }
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const std::uint64_t until = now_ns() + 10 * kTimeout;
      const std::byte expected = swaps.back()->out[1 - rank].back();
      const volatile std::byte& last = swaps.back()->in[rank].back();
      while (last != expected && now_ns() < until) {
      }
      ASSERT_TRUE(last == expected) << kinds.size() << " operations";
    }
    for (End& end : ends_) {
      end.done.clear();
      end.wait(kinds.size());
    }
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      swaps[i]->expect_swapped();
      EXPECT_EQ(ends_[0].done[i].whose, swaps[i].get());
    }
  }
}

// What a thread starts that ends before the operation does is carried on all the same, and in order.
TEST_F(Joined, AThreadThatStartsMayEnd) {
  const std::array<ChainedSchedule, 2> schedules{swap_of(0, 1000, 10, kShortBytes), swap_of(1, 1000, 10, kShortBytes)};
  std::array<std::unique_ptr<Swap>, 4> swaps;
  for (unsigned i = 0; i < swaps.size(); ++i) swaps[i] = std::make_unique<Swap>(1000, i);
  for (std::size_t i = 0; i < swaps.size(); ++i) {
    if (i % 2 == 0) {
      std::thread([&] { EXPECT_TRUE(swaps[i]->start(ends_[0], 0, schedules[0])); }).join();
    } else {
      EXPECT_TRUE(swaps[i]->start(ends_[0], 0, schedules[0]));
    }
  }
  for (auto& swap : swaps) EXPECT_TRUE(swap->start(ends_[1], 1, schedules[1]));
  while (ends_[0].done.size() < swaps.size() || ends_[1].done.size() < swaps.size()) {
    for (End& end : ends_) end.channel_set->reap(end.done);
  }
  for (const auto& swap : swaps) swap->expect_swapped();
}

// The other side ends in the middle of a message: this one's operations end with an error, later ones do not begin.
TEST_F(Joined, APeerThatEndsFailsWhatIsInFlight) {
  const std::array<ChainedSchedule, 2> schedules{swap_of(0, 100'000, 1000, 0), swap_of(1, 100'000, 1000, 0)};
  Swap first(100'000, 1);
  Swap second(100'000, 2);
  ASSERT_TRUE(first.start(ends_[0], 0, schedules[0]));
  ASSERT_TRUE(second.start(ends_[0], 0, schedules[0]));
  ASSERT_EQ(write(sockets_[1], first.out[1].data(), 1500), 1500);
  ends_[1].channel_set.reset();
  ends_[0].wait(2);
  EXPECT_TRUE(ends_[0].done[0].failed && ends_[0].done[1].failed);
  EXPECT_EQ(std::memcmp(first.in[0].data(), first.out[1].data(), 1000), 0);
  EXPECT_TRUE(ends_[0].channel_set->broken());
  EXPECT_FALSE(first.start(ends_[0], 0, schedules[0]));
}

// The first operation's message has come while it waits for room for its own; what breaks it leaves that to nobody.
TEST_F(Joined, WhatIsBehindABrokenOperationReadsNoneOfItsBytes) {
  constexpr std::uint64_t kMore = 50'000'000;  // than the sockets take
  Builder builder("send, then receive", 2, 0);
  const auto out = builder.send(1, {.buffer = kSendBuffer}, kMore, 0);
  builder.after(out, builder.recv(1, {.buffer = kRecvBuffer}, 40, 0));
  Swap first(kMore, 1);
  const ChainedSchedule blocked = *compile(*builder.commit(), {.downhill = true});
  ASSERT_EQ(blocked.chains, 1U);
  ASSERT_TRUE(first.start(ends_[0], 0, blocked));
  const ChainedSchedule behind = swap_of(0, 40, 40, 0);
  Swap second(40, 2);
  ASSERT_TRUE(second.start(ends_[0], 0, behind));
  ASSERT_EQ(write(sockets_[1], first.out[1].data(), 80), 80);
  pollfd here{.fd = sockets_[0], .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&here, 1, -1), 1);
  ends_[0].channel_set->discard();
  ends_[0].wait(2);
  EXPECT_TRUE(ends_[0].done[0].failed && ends_[0].done[1].failed);
  EXPECT_EQ(second.in[0], std::vector<std::byte>(40));
}

// At each request of an operation: the peer's connection ends just there.
TEST_F(Joined, WhereverAConnectionEndsTheOperationEnds) {
  TearDown();
  for (std::size_t cut = 0; cut < 40; cut += 3) {
    SetUp();
    const ChainedSchedule schedule = swap_of(0, 40, 4, cut % 2 == 0 ? 0 : kShortBytes);
    Swap swap(40, 1);
    ASSERT_TRUE(swap.start(ends_[0], 0, schedule));
    ASSERT_EQ(write(sockets_[1], swap.out[1].data(), cut), static_cast<ssize_t>(cut));
    shutdown(sockets_[1], SHUT_RDWR);
    ends_[0].wait(1);
    EXPECT_TRUE(ends_[0].done[0].failed) << cut;
    ends_[0].done.clear();
    for (End& end : ends_) end.channel_set.reset();
  }
}

constexpr std::uint64_t kOther = 0b10;  // the peer of rank 0

// Who has no more to do says so, and what it sent before is there to be read.
TEST_F(Joined, APeerThatLeavesIsNoFailure) {
  ASSERT_EQ(write(sockets_[1], "1234", 4), 4);
  ends_[1].channel_set->leave();
  ends_[1].channel_set.reset();
  ChannelSet& own = *ends_[0].channel_set;
  std::uint64_t left = 0;
  while (left == 0 && !own.broken()) left = own.check_peers(kOther);
  EXPECT_EQ(left, kOther);
  EXPECT_FALSE(own.broken());
  std::array<char, 8> read{};
  EXPECT_EQ(recv(sockets_[0], read.data(), read.size(), MSG_WAITALL), 4);
  EXPECT_STREQ(read.data(), "1234");
  EXPECT_EQ(own.check_peers(kOther), kOther);
}

// It is one to who waits for it, and to nobody else.
TEST_F(Joined, APeerThatEndsWithoutAWordIsLost) {
  ends_[1].channel_set.reset();
  pollfd end{.fd = sockets_[0], .events = POLLRDHUP, .revents = 0};
  ASSERT_EQ(poll(&end, 1, -1), 1);
  EXPECT_EQ(ends_[0].channel_set->check_peers(0), 0U);
  EXPECT_FALSE(ends_[0].channel_set->broken());
  EXPECT_EQ(ends_[0].channel_set->check_peers(kOther), 0U);
  EXPECT_TRUE(ends_[0].channel_set->broken());
}

// The last byte of a message is missing, and the goodbye does not stand for it.
TEST_F(Joined, AGoodbyeIsNoPartOfAMessage) {
  Builder builder("receive", 2, 0);
  builder.recv(1, {.buffer = kRecvBuffer}, schedule::cut(40, 40), {});
  const ChainedSchedule schedule = *compile(*builder.commit(), {.short_bytes = 0});
  Swap swap(40, 1);
  ASSERT_TRUE(swap.start(ends_[0], 0, schedule));
  ASSERT_EQ(write(sockets_[1], swap.out[1].data(), 39), 39);
  ends_[1].channel_set->leave();
  ends_[1].channel_set.reset();
  ends_[0].wait(1);
  EXPECT_TRUE(ends_[0].done[0].failed);
}

// The thread that submits for others may not have come to an operation whose channel set is broken, and goes.
TEST_F(Joined, AChannelSetMayGoThatWasHandedOver) {
  const ChainedSchedule schedule = swap_of(0, 100, 10, kShortBytes);
  for (unsigned round = 0; round < 200; ++round) {
    SetUp();
    ends_[0].done.clear();
    Swap swap(100, round);
    std::thread([&] { EXPECT_TRUE(swap.start(ends_[0], 0, schedule)); }).join();
    ends_[0].channel_set->discard();
    ends_[0].wait(1);
    EXPECT_TRUE(ends_[0].done[0].failed);
    ends_[0].channel_set.reset();
  }
}

// Its results would not wake a thread that sleeps on the set. The ring that there is has room for few requests only.
TEST(ARing, ThatCannotBeWatchedIsNone) {
  if (const std::string why = why_no_chains(); !why.empty()) GTEST_SKIP() << why;
  constexpr std::size_t kMany = 1000;
  Rings rings, none;
  ASSERT_TRUE(rings.open());
  no_epoll = true;
  EXPECT_FALSE(rings.make_room(kMany, true));
  EXPECT_FALSE(none.open());
  no_epoll = false;
  EXPECT_TRUE(rings.make_room(1, false));
  EXPECT_TRUE(rings.make_room(kMany, true));
}

int io_urings() {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    found += std::filesystem::read_symlink(entry.path(), gone).string().find("io_uring") != std::string::npos ? 1 : 0;
  }
  return found;
}

// A rank with an operation under way forks a child and is killed. The child, which lives, has neither its ring nor its
// connection: the peer sees the end.
TEST(ForkedChild, HidesNoEndOfItsParent) {
  if (const std::string why = why_no_chains(); !why.empty()) GTEST_SKIP() << why;
  const auto [own, other] = connected();
  std::array<int, 2> words{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, words.data()), 0);
  const pid_t rank = fork();
  ASSERT_GE(rank, 0);
  if (rank == 0) {
    close(other);
    close(words[0]);
    Submitter submitter;
    std::vector<Peer> peers(2);
    peers[1] = {own, 1};
    const auto channel_set = std::move(*ChannelSet::open(std::move(peers), 0, submitter, kTimeout));
    Builder builder("receive", 2, 0);
    builder.recv(1, {.buffer = kRecvBuffer}, 40, 0);
    const ChainedSchedule schedule = *compile(*builder.commit(), {});
    std::array<std::byte, 40> in{};
    const std::array<std::byte*, 2> buffers{in.data(), in.data()};
    if (!channel_set->start(schedule, buffers, &in) || io_urings() != 1) _exit(1);
    if (fork() == 0) {
      const char held = static_cast<char>(io_urings());
      if (send(words[1], &held, 1, 0) != 1) _exit(1);
      char word = 0;
      _exit(recv(words[1], &word, 1, 0) == 0 ? 0 : 1);  // until the test has looked
    }
    pause();
  }
  close(own);
  close(words[1]);
  char held = -1;
  EXPECT_EQ(recv(words[0], &held, 1, 0), 1);
  EXPECT_EQ(held, 0);
  kill(rank, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(rank, &status, 0), rank);
  EXPECT_EQ(status, SIGKILL);
  pollfd end{.fd = other, .events = POLLIN | POLLRDHUP, .revents = 0};
  EXPECT_EQ(poll(&end, 1, 60'000), 1);
  close(other);
  close(words[0]);
}

TEST_F(Joined, DiscardingEndsWhatWaitsAtGates) {
  Builder builder("relay", 2, 0);
  const schedule::Chunks chunks = schedule::cut(100, 10);
  const auto in = builder.recv(1, {.buffer = kRecvBuffer}, chunks, {});
  builder.each(in, builder.send(1, {.buffer = kRecvBuffer}, chunks, {}));
  const ChainedSchedule schedule = *compile(*builder.commit(), {.short_bytes = 0});
  ASSERT_EQ(schedule.gates, 1U);
  Swap swap(100, 1);
  ASSERT_TRUE(swap.start(ends_[0], 0, schedule));
  EXPECT_TRUE(ends_[0].channel_set->runs(&swap));
  ends_[0].channel_set->discard();
  ends_[0].wait(1);
  EXPECT_TRUE(ends_[0].done[0].failed);
  EXPECT_FALSE(ends_[0].channel_set->runs(&swap));
}

}  // namespace
}  // namespace urakata::chain
