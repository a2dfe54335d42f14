// The processes of a job that meet over this machine's loopback, for tests of what goes by transport `wire`.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transport/wire.hpp"

namespace urakata::transport {

inline constexpr int kFailure = 16;
inline constexpr std::uint64_t kTimeout = 60'000'000'000;  // longer than any test
inline constexpr Secret kSecret{.low = 0x1234567812345678U, .high = 42};

inline ListenAddress loopback(std::uint16_t number) {
  ListenAddress listener;
  auto& four = reinterpret_cast<sockaddr_in&>(listener.address);
  four.sin_family = AF_INET;
  four.sin_port = htons(number);
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listener.length = sizeof four;
  return listener;
}

// Each on a node of its own.
inline std::vector<std::unique_ptr<Wire>> wires_of(std::int32_t ranks, Failures& failures,
                                                   std::uint64_t timeout_ns = kTimeout) {
  std::vector<std::unique_ptr<Wire>> wires;
  std::vector<ListenAddress> addresses;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    auto wire = Wire::open(rank, kSecret, failures, timeout_ns);
    if (!wire.ok()) ADD_FAILURE() << wire.error().message;
    wires.push_back(std::move(*wire));
    addresses.push_back(loopback(wires.back()->listen_port()));
  }
  for (auto& wire : wires) wire->set_addresses(addresses);
  return wires;
}

// This process's sockets of connections that were made to its listener, in the order in which they were.
inline std::vector<int> sockets_to(const Wire& wire) {
  std::vector<int> found;
  for (int socket = 0; socket < 1024; ++socket) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (ntohs(reinterpret_cast<sockaddr_in&>(peer).sin_port) == wire.listen_port()) found.push_back(socket);
  }
  return found;
}

}  // namespace urakata::transport
