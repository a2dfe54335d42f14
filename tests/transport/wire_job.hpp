// SPDX-License-Identifier: BSD-3-Clause
// Messages between the processes of a job over this machine's loopback, for tests of transport `wire`.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "loopback.hpp"
#include "transport/wire/frame.hpp"
#include "transport/wire/wire.hpp"
#include "transport/wire/wire_port.hpp"

namespace urakata::transport::wire_test {

inline Failures failures(kFailure);  // of all processes

inline std::vector<std::unique_ptr<Wire>> job(std::int32_t ranks) { return wires_of(ranks, failures); }

inline Message message(std::vector<std::byte>& bytes, int peer, int tag) {
  return {.address = bytes.data(), .bytes = bytes.size(), .layout = nullptr, .peer = peer, .tag = tag};
}

inline std::vector<std::byte> filled(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Polls both until each has that many completions.
inline std::vector<Completion> both(WirePort& a, std::size_t of_a, WirePort& b, std::size_t of_b) {
  std::vector<Completion> all;
  for (int i = 0; i < 10'000'000 && (of_a != 0 || of_b != 0); ++i) {
    for (const Completion& one : a.poll()) all.push_back(one), --of_a;
    for (const Completion& one : b.poll()) all.push_back(one), --of_b;
  }
  EXPECT_EQ(of_a + of_b, 0U) << "messages that never ended";
  return all;
}

// A connection to the Wire that has named the job's secret and itself as this rank. The Wire's greeting is read.
inline int connected_as(std::int32_t rank, Wire& to) {
  const int caller = socket(AF_INET, SOCK_STREAM, 0);
  const ListenAddress listener = loopback(to.listen_port());
  EXPECT_EQ(connect(caller, reinterpret_cast<const sockaddr*>(&listener.address), listener.length), 0);
  const Frame hello{.kind = FrameKind::hello, .tag = rank, .bytes = kSecret.low, .id = kSecret.high};
  EXPECT_EQ(send(caller, &hello, sizeof hello, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof hello));
  Frame answer{};
  ssize_t got = -1;
  for (int i = 0; i < 10'000'000 && got < 0; ++i) {
    to.step();
    got = recv(caller, &answer, sizeof answer, MSG_DONTWAIT);
  }
  EXPECT_EQ(answer.kind, FrameKind::hello_ack);
  return caller;
}

}  // namespace urakata::transport::wire_test
