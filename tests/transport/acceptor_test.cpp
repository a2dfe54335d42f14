// SPDX-License-Identifier: BSD-3-Clause
// Whose connections are accepted, and which are closed before they have named the job's secret.
#include "transport/wire/acceptor.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../no_more_descriptors.hpp"
#include "base/clock.hpp"
#include "transport/wire/frame.hpp"
#include "wire_job.hpp"

namespace urakata::transport::wire_test::acceptor_test {
namespace {

TEST(Wire, AHandshakeFindsTheRightListenerAndNobodyElseIsAccepted) {
  auto wires = job(2);
  auto foreign = Wire::open(1, {.low = 1, .high = 2}, failures, kTimeout);
  ASSERT_TRUE(foreign.ok());
  const std::array listen_addresses{loopback((*foreign)->listen_port()), loopback(wires[0]->listen_port()),
                                    loopback(wires[1]->listen_port())};
  wires[0]->prober().probe(listen_addresses, 1);
  for (int i = 0; i < 10'000'000 && wires[0]->prober().answer(1).opened < 0; ++i) {
    for (Wire* one : {wires[0].get(), wires[1].get(), foreign->get()}) one->step();
  }
  EXPECT_EQ(wires[0]->prober().answer(1).opened, 2);
  wires[0]->prober().end();

  // What does not know the secret is shown out, whatever it says.
  WirePort port(*wires[0]);
  std::vector<std::byte> room(8);
  ASSERT_EQ(port.recv(message(room, 1, 0), {}, nullptr), 0);
  const int caller = socket(AF_INET, SOCK_STREAM, 0);
  const ListenAddress listener = loopback(wires[0]->listen_port());
  ASSERT_EQ(connect(caller, reinterpret_cast<const sockaddr*>(&listener.address), listener.length), 0);
  const Frame lie{.kind = FrameKind::message, .tag = 0, .bytes = 8, .id = 0};
  ASSERT_EQ(send(caller, &lie, sizeof lie, 0), static_cast<ssize_t>(sizeof lie));
  ASSERT_EQ(send(caller, "mischief", 8, MSG_NOSIGNAL), 8);
  pollfd end{.fd = caller, .events = POLLIN, .revents = 0};
  while (poll(&end, 1, 0) == 0) EXPECT_TRUE(port.poll().empty());
  EXPECT_EQ(port.in_flight(), 1U);
  close(caller);
}

// Nothing wakes who sleeps, and the connection is accepted when there is a descriptor for it.
TEST(Wire, WhoCannotBeAcceptedWakesNobody) {
  auto wires = job(1);
  const int caller = socket(AF_INET, SOCK_STREAM, 0);
  pollfd ready{.fd = wires[0]->descriptor(), .events = POLLIN, .revents = 0};
  {
    const NoMoreDescriptors none;
    const ListenAddress listener = loopback(wires[0]->listen_port());
    ASSERT_EQ(connect(caller, reinterpret_cast<const sockaddr*>(&listener.address), listener.length), 0);
    ASSERT_EQ(poll(&ready, 1, -1), 1);
    bool wakes = true;
    for (int i = 0; i < 1000 && wakes; ++i) {
      wires[0]->step();
      wakes = poll(&ready, 1, 0) != 0;
    }
    EXPECT_FALSE(wakes);
  }
  const Frame probe{.kind = FrameKind::probe, .tag = 1, .bytes = kSecret.low, .id = kSecret.high};
  ASSERT_EQ(send(caller, &probe, sizeof probe, 0), static_cast<ssize_t>(sizeof probe));
  Frame answer;
  std::array<pollfd, 2> either{ready, {.fd = caller, .events = POLLIN, .revents = 0}};
  while (recv(caller, &answer, sizeof answer, MSG_DONTWAIT) != sizeof answer) {
    ASSERT_GT(poll(either.data(), either.size(), -1), 0);
    wires[0]->step();
  }
  EXPECT_EQ(answer.kind, FrameKind::hello_ack);
  close(caller);
}

// More connect to rank 0 than may be unauthenticated, and say nothing. As long as they are young, a peer connects
// beside them; then the oldest are closed until no more than may be are left.
TEST(Wire, TheOldestSilentConnectionsAreClosedOnceTheyAreNotYoung) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  WirePort b(*wires[1]);
  const ListenAddress listener = loopback(wires[0]->listen_port());
  constexpr std::size_t kTooMany = 10;
  std::vector<int> silent;
  for (std::size_t i = 0; i < Wire::kMostUnauthenticated + kTooMany; ++i) {
    silent.push_back(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(silent.back(), reinterpret_cast<const sockaddr*>(&listener.address), listener.length), 0);
    a.poll();
  }
  auto bytes = filled(10, 1);
  std::vector<std::byte> room(10);
  ASSERT_EQ(b.send(message(bytes, 0, 0), {}, nullptr), 0);
  ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
  both(a, 1, b, 1);
  EXPECT_EQ(room, bytes);
  for (std::size_t i = 0; i < kTooMany; ++i) {
    pollfd end{.fd = silent[i], .events = POLLIN, .revents = 0};
    for (int polls = 0; polls < 100'000'000 && poll(&end, 1, 0) == 0; ++polls) a.poll();
    EXPECT_NE(end.revents, 0) << i;
  }
  for (int i = 0; i < 1000; ++i) a.poll();
  for (std::size_t i = 0; i < silent.size(); ++i) {
    char byte = 0;
    EXPECT_EQ(recv(silent[i], &byte, 1, MSG_DONTWAIT) == 0, i < kTooMany) << i;
    close(silent[i]);
  }
}

// The first of more connections than may be unauthenticated sends its probe's frame when all have been accepted.
TEST(Wire, AYoungConnectionIsKeptUntilItsProbeCame) {
  auto wires = job(1);
  const ListenAddress listener = loopback(wires[0]->listen_port());
  const std::uint64_t begin = now_ns();
  std::vector<int> young;
  for (std::size_t i = 0; i < Wire::kMostUnauthenticated + 10; ++i) {
    young.push_back(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(young.back(), reinterpret_cast<const sockaddr*>(&listener.address), listener.length), 0);
    wires[0]->step();
  }
  const Frame probe{.kind = FrameKind::probe, .tag = 1, .bytes = kSecret.low, .id = kSecret.high};
  ASSERT_EQ(send(young.front(), &probe, sizeof probe, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof probe));
  const bool late = now_ns() - begin > kFirstBytesTime;
  Frame answer{};
  ssize_t got = -1;
  for (int i = 0; i < 1'000'000 && got < 0; ++i) {
    wires[0]->step();
    got = recv(young.front(), &answer, sizeof answer, MSG_DONTWAIT);
  }
  for (const int one : young) close(one);
  if (late) GTEST_SKIP() << "this machine was too slow";
  EXPECT_EQ(got, static_cast<ssize_t>(sizeof answer));
  EXPECT_EQ(answer.kind, FrameKind::hello_ack);
}

// More connect than are accepted before they name the secret, and none says anything: all are closed, and the peer's
// message arrives.
TEST(Wire, UnauthenticatedConnectionsThatSayNothingAreClosed) {
  constexpr std::uint64_t kShort = 4;  // ns: each check is due at once
  auto made = Wire::open(0, kSecret, failures, kShort);
  ASSERT_TRUE(made.ok());
  auto wire = std::move(*made);
  auto other = std::move(*Wire::open(1, kSecret, failures, kTimeout));
  const std::vector<ListenAddress> listen_addresses{loopback(wire->listen_port()), loopback(other->listen_port())};
  wire->set_addresses(listen_addresses);
  other->set_addresses(listen_addresses);
  WirePort a(*wire);
  WirePort b(*other);
  std::vector<int> unauthenticated;
  for (std::size_t i = 0; i < Wire::kMostUnauthenticated + 10; ++i) {
    unauthenticated.push_back(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(unauthenticated.back(), reinterpret_cast<const sockaddr*>(&listen_addresses[0].address),
                      listen_addresses[0].length),
              0);
  }
  auto bytes = filled(10, 1);
  std::vector<std::byte> room(10);
  ASSERT_EQ(b.send(message(bytes, 0, 0), {}, nullptr), 0);
  ASSERT_EQ(a.recv(message(room, 1, 0), {}, nullptr), 0);
  both(a, 1, b, 1);
  EXPECT_EQ(room, bytes);
  for (const int one : unauthenticated) {
    pollfd end{.fd = one, .events = POLLIN, .revents = 0};
    for (int i = 0; i < 1'000'000 && poll(&end, 1, 0) == 0; ++i) a.poll();
    EXPECT_NE(end.revents, 0);
    close(one);
  }
}

}  // namespace
}  // namespace urakata::transport::wire_test::acceptor_test
