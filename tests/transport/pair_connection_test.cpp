// SPDX-License-Identifier: BSD-3-Clause
// One connection for what two processes send each other, whoever begins it and whichever ends early.
#include "transport/wire/pair_connection.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "wire_job.hpp"

namespace urakata::transport::wire_test::pair_connection_test {
namespace {

// Sockets that are connected: both ends of each connection between the wires of a job.
std::size_t connected_sockets() {
  std::size_t count = 0;
  for (int one = 0; one < 1024; ++one) {
    sockaddr_storage other{};
    socklen_t size = sizeof other;
    if (getpeername(one, reinterpret_cast<sockaddr*>(&other), &size) == 0 && other.ss_family != AF_UNIX) ++count;
  }
  return count;
}

// Whoever begins, and if both do: all that was sent arrives in order, on one connection.
TEST(Wire, APairHasOneConnection) {
  for (const unsigned first : {1U, 2U, 3U}) {  // bits: ranks that send before they hear of the other
    SCOPED_TRACE(first);
    const std::size_t before = connected_sockets();
    auto wires = job(2);
    std::vector<std::unique_ptr<WirePort>> ports;
    for (auto& wire : wires) ports.push_back(std::make_unique<WirePort>(*wire));
    constexpr std::size_t kSizes[] = {0, 100, Wire::kEager + 1, 5000};
    std::array<std::vector<std::vector<std::byte>>, 2> sent;
    std::array<std::vector<std::vector<std::byte>>, 2> room;
    const auto send_all = [&](std::size_t rank) {
      for (const std::size_t size : kSizes) sent[rank].push_back(filled(size, static_cast<unsigned>(rank + size)));
      for (auto& one : sent[rank]) ports[rank]->send(message(one, 1 - static_cast<int>(rank), 0), {}, nullptr);
    };
    for (const std::size_t rank : {0U, 1U}) {
      if ((first >> rank & 1U) != 0) send_all(rank);
    }
    for (const std::size_t rank : {0U, 1U}) {
      for (const std::size_t size : kSizes) room[rank].emplace_back(size);
      for (auto& one : room[rank]) ports[rank]->recv(message(one, 1 - static_cast<int>(rank), 0), {}, nullptr);
    }
    if (first != 3) {
      const std::size_t later = first == 1 ? 1 : 0;
      while (ports[later]->in_flight() != 0) {
        for (auto& port : ports) port->poll();
      }
      send_all(later);
    }
    while (ports[0]->in_flight() + ports[1]->in_flight() != 0) {
      for (auto& port : ports) {
        for (const Completion& one : port->poll()) ASSERT_EQ(one.error, 0);
      }
    }
    EXPECT_EQ(sent[0], room[1]);
    EXPECT_EQ(sent[1], room[0]);
    for (int i = 0; i < 100; ++i) ports[0]->poll(), ports[1]->poll();
    EXPECT_EQ(connected_sockets() - before, 2U);
  }
}

// Rank 0's first connection is closed before rank 1 has answered on it, with one message in it and the begin of
// another: both go over the next connection, in order.
TEST(Wire, WhatAnUnansweredConnectionHadGoesOverAnother) {
  auto wires = job(2);
  WirePort a(*wires[0]);
  WirePort b(*wires[1]);
  auto first = filled(1000, 1), second = filled(Wire::kEager, 2);
  std::vector<std::byte> room_first(first.size()), room_second(second.size());
  ASSERT_EQ(a.send(message(first, 1, 0), {}, nullptr), 0);
  std::size_t sent = 0;
  while (sent == 0) sent += a.poll().size();
  bool finished = false;
  ASSERT_EQ(a.send(message(second, 1, 0), {}, &finished), 0);
  const int taken = accept(listener_at(wires[1]->listen_port()), nullptr, nullptr);
  ASSERT_GE(taken, 0);
  close_at_once(taken);
  close(taken);
  ASSERT_EQ(b.recv(message(room_first, 0, 0), {}, nullptr), 0);
  ASSERT_EQ(b.recv(message(room_second, 0, 0), {}, nullptr), 0);
  for (const Completion& one : both(a, finished ? 0 : 1, b, 2)) EXPECT_EQ(one.error, 0);
  EXPECT_EQ(room_first, first);
  EXPECT_EQ(room_second, second);
}

}  // namespace
}  // namespace urakata::transport::wire_test::pair_connection_test
