// SPDX-License-Identifier: BSD-3-Clause
// Puts by transport wire, over real sockets: to sinks by number, mixed with other messages, and when a connection is
// lost.
#include "transport/wire/puts.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "loopback.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport::puts_test {
namespace {

Failures failures(kFailure);

using Bytes = std::vector<std::byte>;

struct Sink final : PutSink {
  Bytes room = Bytes(PutWire::kSlice);
  std::vector<std::uint64_t> came;  // ids, in order
  std::vector<Bytes> payloads;
  unsigned gone = 0;
  std::vector<std::int32_t> lost_ranks;

  std::byte* place(std::int32_t /*from*/, const Frame& frame) override {
    return frame.id == kWrong ? nullptr : room.data();
  }
  bool arrived(std::int32_t /*from*/, const Frame& frame) override {
    came.push_back(frame.id);
    if (frame.kind == FrameKind::put) {
      payloads.emplace_back(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(frame.bytes));
    }
    return true;
  }
  void left(std::uint32_t /*edge*/) override { ++gone; }
  bool lost(std::int32_t rank) override {
    lost_ranks.push_back(rank);
    return false;
  }
  static constexpr std::uint64_t kWrong = 99;
};

struct Pair {
  template <class Over>
  bool until(Over over) {
    for (int i = 0; i < 1'000'000 && !over(); ++i) {
      for (auto& one : wire) {
        if (one) one->step();
      }
    }
    return over();
  }
  std::vector<std::unique_ptr<Wire>> wire = wires_of(2, failures);
};

Frame put(std::int32_t sink, std::uint64_t bytes, std::uint64_t id) {
  return {.kind = FrameKind::put, .tag = sink, .bytes = bytes, .id = id};
}

// 40 puts of 256 KiB to a receiver that reads nothing meanwhile: more than any socket has room for. All come, in order,
// and of those that did not leave at once the sender is told.
TEST(Puts, ComeInOrderAndSayWhenTheyHaveLeft) {
  constexpr std::uint64_t kPuts = 40;
  Pair job;
  Sink from;
  Sink to;
  job.wire[0]->puts().add(from);
  const std::int32_t number = job.wire[1]->puts().add(to);
  std::vector<Bytes> payloads;
  unsigned waiting = 0;
  for (std::uint64_t id = 0; id < kPuts; ++id) {
    payloads.emplace_back(PutWire::kSlice, static_cast<std::byte>(id));
    if (id == 1) {
      EXPECT_TRUE(job.until([&] { return to.came.size() == 1; }));  // connected
    }
    waiting += job.wire[0]->puts().put(1, put(number, PutWire::kSlice, id), payloads.back().data(), from, 3) ? 0 : 1;
  }
  EXPECT_LT(waiting, kPuts);
  EXPECT_GT(waiting, 1U);
  EXPECT_TRUE(job.until([&] { return to.came.size() == kPuts && from.gone == waiting; }));
  EXPECT_EQ(to.payloads, payloads);
  for (std::uint64_t id = 0; id < kPuts; ++id) EXPECT_EQ(to.came[id], id);
}

// A new connection takes 200 KiB at once, though its receiver does not read: whoever has put may go and compute.
TEST(Puts, ANewConnectionHasRoomForAPut) {
  Pair job;
  Sink from;
  Sink to;
  job.wire[0]->puts().add(from);
  const std::int32_t number = job.wire[1]->puts().add(to);
  const Bytes payload(200 << 10, std::byte{5});
  job.wire[0]->puts().put(1, {.kind = FrameKind::put_ready, .tag = number, .id = 1}, nullptr, from, 0);
  EXPECT_TRUE(job.until([&] { return to.came.size() == 1; }));
  EXPECT_TRUE(job.wire[0]->puts().put(1, put(number, payload.size(), 2), payload.data(), from, 0));
  EXPECT_TRUE(job.until([&] { return to.payloads.size() == 1; }));
  EXPECT_EQ(to.payloads.front(), payload);
}

// What comes for a sink that is gone is thrown away, and what a sink gave up goes nowhere; the connection stays.
TEST(Puts, SinksMayGoWhilePutsAreUnderWay) {
  Pair job;
  Sink from;
  Sink stays;
  auto goes = std::make_optional<Sink>();
  job.wire[0]->puts().add(from);
  const std::int32_t kept = job.wire[1]->puts().add(stays);
  const std::int32_t gone = job.wire[1]->puts().add(*goes);
  const Bytes payload(PutWire::kSlice, std::byte{1});
  for (std::uint64_t id = 0; id < 40; ++id) {
    job.wire[0]->puts().put(1, put(gone, payload.size(), id), payload.data(), from, 0);
  }
  EXPECT_TRUE(job.until([&] { return goes->came.size() == 3; }));
  job.wire[1]->puts().remove(gone);
  goes.reset();
  job.wire[0]->puts().give_up(from);
  job.wire[0]->puts().put(1, put(kept, 5, 41), payload.data(), from, 0);
  EXPECT_TRUE(job.until([&] { return stays.came.size() == 1; }));
  EXPECT_EQ(stays.came.front(), 41U);
}

// By a put from rank 0, which has come. Returned is the number of `to`.
std::int32_t connect(Pair& job, Sink& from, Sink& to) {
  job.wire[0]->puts().add(from);
  const std::int32_t number = job.wire[1]->puts().add(to);
  const std::byte payload{};
  job.wire[0]->puts().put(1, put(number, 1, 1), &payload, from, 0);
  EXPECT_TRUE(job.until([&] { return to.came.size() == 1; }));
  return number;
}

// The peer ends: every sink is told, then and at each later put.
TEST(Puts, LostPeersAreTold) {
  Pair job;
  Sink from;
  Sink to;
  Sink idle;
  job.wire[0]->puts().add(idle);
  const std::int32_t number = connect(job, from, to);
  const std::byte payload{};
  job.wire[1].reset();
  EXPECT_TRUE(job.until([&] { return !from.lost_ranks.empty() && !idle.lost_ranks.empty(); }));
  EXPECT_FALSE(job.wire[0]->puts().put(1, put(number, 1, 2), &payload, from, 0));
  EXPECT_EQ(from.lost_ranks, (std::vector<std::int32_t>{1, 1}));
}

// A peer that is only waited for ends, and nothing was ever sent to it: whoever watches it is told, then and later.
TEST(Puts, WhoWatchesAPeerIsToldThatItIsLost) {
  Pair job;
  Sink from;
  job.wire[0]->puts().add(from);
  job.wire[1].reset();
  job.wire[0]->puts().watch(1, from);
  EXPECT_TRUE(job.until([&] { return !from.lost_ranks.empty(); }));
  const std::size_t told = from.lost_ranks.size();
  job.wire[0]->puts().watch(1, from);
  EXPECT_EQ(from.lost_ranks.size(), told + 1);
}

// The path from rank 0 to rank 1 ends, the other one does not: rank 1 sees it, and rank 0, which has nothing to send,
// is told by that.
TEST(Puts, APathThatEndsInOneDirectionIsLostAtBothEnds) {
  Pair job;
  Sink from;
  Sink to;
  connect(job, from, to);
  const std::vector<int> sockets = sockets_to(*job.wire[1]);
  ASSERT_EQ(sockets.size(), 1U);
  EXPECT_EQ(shutdown(sockets.front(), SHUT_WR), 0);
  EXPECT_TRUE(job.until([&] { return !to.lost_ranks.empty() && !from.lost_ranks.empty(); }));
}

// A child that a process has forked, and that outlives it, keeps none of its connections open: the peer sees the end.
TEST(Puts, AForkedChildKeepsNoConnectionOpen) {
  Pair job;
  Sink from;
  Sink to;
  connect(job, from, to);
  std::array<int, 2> words{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, words.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  char word = 0;
  if (child == 0) {
    close(words[0]);
    const bool said = write(words[1], &word, 1) == 1;
    _exit(said && read(words[1], &word, 1) == 0 ? 0 : 1);  // until its parent has looked
  }
  close(words[1]);
  EXPECT_EQ(read(words[0], &word, 1), 1);
  job.wire[0].reset();
  EXPECT_TRUE(job.until([&] { return !to.lost_ranks.empty(); }));
  close(words[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// What cannot be ends the connection, at both ends.
TEST(Puts, WrongFramesEndTheConnection) {
  Pair job;
  Sink from;
  Sink to;
  job.wire[0]->puts().add(from);
  const std::int32_t number = job.wire[1]->puts().add(to);
  const std::byte payload{};
  job.wire[0]->puts().put(1, put(number, 1, Sink::kWrong), &payload, from, 0);
  EXPECT_TRUE(job.until([&] { return !to.lost_ranks.empty(); }));
  EXPECT_TRUE(to.came.empty());
  EXPECT_TRUE(job.until([&] { return !from.lost_ranks.empty(); }));
}

}  // namespace
}  // namespace urakata::transport::puts_test
