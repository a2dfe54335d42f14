// SPDX-License-Identifier: BSD-3-Clause
// Who is lost and who is not, and who hears of a failure.
#include "transport/wire/wire_peers.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "wire_job.hpp"

namespace urakata::transport::wire_test::wire_peers_test {
namespace {

TEST(Wire, APeerThatEndsFailsWhatWaitsForIt) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  std::vector<std::byte> room(10);
  auto bytes = filled(10, 1);
  auto large = filled(Wire::kEager + 1, 1);
  {
    WirePort b(*wires[1]);
    ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
    ASSERT_EQ(b.send(message(bytes, 0, 0), {}, nullptr), 0);
    both(a, 1, b, 1);
    ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
    ASSERT_EQ(a.send(message(large, 1, 0), {}, nullptr), 0);  // waits for its receive
    for (int i = 0; i < 100; ++i) a.poll(), b.poll();
  }
  wires[1].reset();
  std::size_t failed = 0;
  while (a.in_flight() != 0) {
    for (const Completion& one : a.poll()) failed += one.error == kFailure ? 1 : 0;
  }
  EXPECT_EQ(failed, 2U);
  bool finished = false;
  EXPECT_EQ(a.recv(message(room, 1, 0), {}, &finished), kFailure);
  EXPECT_TRUE(finished);
}

TEST(Wire, ThePeerIsToldOfAFailure) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  WirePort b(*wires[1]);
  const std::size_t before = failures.count();
  a.tell(1, {.from = 0, .origin = 300, .context = 5});
  for (int i = 0; i < 1'000'000 && failures.count() == before; ++i) a.poll(), b.poll();
  std::vector<Notice> notices;
  failures.read(notices);
  ASSERT_EQ(notices.size(), before + 1);
  EXPECT_EQ(notices.back().from, 0);
  EXPECT_EQ(notices.back().origin, 300);
  EXPECT_EQ(notices.back().context, 5);
}

// The connection turns out to be broken when rank 0 tells of the failure, and not by a poll: what waits for that peer
// in other communicators ends all the same.
TEST(Wire, WhoIsToBeToldAndIsGoneIsLost) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  auto bytes = filled(10, 1);
  std::vector<std::byte> room(10);
  {
    WirePort b(*wires[1]);
    ASSERT_EQ(b.send(message(bytes, 0, 0), {}, nullptr), 0);
    ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
    both(a, 1, b, 1);
    ASSERT_EQ(a.send(message(bytes, 1, 0), {}, nullptr), 0);
    while (a.in_flight() != 0) a.poll();
  }
  ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
  wires[1].reset();  // with bytes that it has not read: the connection is reset
  a.tell(1, {.from = 0, .origin = 301, .context = 5});
  std::vector<int> errors;
  for (int i = 0; i < 1'000'000 && errors.empty(); ++i) {
    for (const Completion& one : a.poll()) errors.push_back(one.error);
  }
  EXPECT_EQ(errors, std::vector{kFailure});
}

// Rank 1 does not accept, and its accept queue is full: rank 0's connection is made anew seven times, which is longer
// than its timeout. Then rank 1 accepts, and the message arrives.
TEST(Wire, AProcessThatDoesNotAcceptIsNoLoss) {
  auto wires = impatient_pair(failures);
  WirePort a(*wires[0]);
  WirePort b(*wires[1]);
  auto bytes = filled(1000, 1);
  std::vector<std::byte> room(bytes.size());
  {
    const FullAcceptQueue full(listener_at(wires[1]->listen_port()));
    ASSERT_EQ(a.send(message(bytes, 1, 0), {}, nullptr), 0);
    std::set<std::uint16_t> asked;
    while (asked.size() < 8) {
      ASSERT_TRUE(a.poll().empty());
      asked.merge(ports_that_ask());
    }
  }
  ASSERT_EQ(b.recv(message(room, 0, 0), {}, nullptr), 0);
  for (const Completion& one : both(a, 1, b, 1)) EXPECT_EQ(one.error, 0);
  EXPECT_EQ(room, bytes);
}

// The same where nothing answers at the node at all: the peer is lost.
TEST(Wire, ANodeThatDoesNotAnswerIsALoss) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    auto wires = impatient_pair(failures);
    const int beside = socket(AF_INET, SOCK_STREAM, 0);
    const ListenAddress address = loopback(wires[1]->listen_port() ^ 1U);
    const bool bound = bind(beside, reinterpret_cast<const sockaddr*>(&address.address), address.length) == 0 &&
                       listen(beside, 0) == 0;
    if (bound) {
      WirePort a(*wires[0]);
      const FullAcceptQueue full(listener_at(wires[1]->listen_port())), silent(beside);
      auto bytes = filled(10, 1);
      ASSERT_EQ(a.send(message(bytes, 1, 0), {}, nullptr), 0);
      std::vector<Completion> all;
      while (all.empty()) {
        for (const Completion& one : a.poll()) all.push_back(one);
      }
      EXPECT_EQ(all.front().error, kFailure);
    }
    close(beside);
    if (bound) return;
  }
  GTEST_SKIP() << "no port is free beside another";
}

}  // namespace
}  // namespace urakata::transport::wire_test::wire_peers_test
