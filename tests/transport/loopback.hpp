// SPDX-License-Identifier: BSD-3-Clause
// The processes of a job that meet over this machine's loopback, for tests of what goes by transport `wire`.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "transport/wire/tcp_facts.hpp"
#include "transport/wire/wire.hpp"

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

// Two processes. The first loses a peer whose node has not answered for a fifth of a second.
inline std::vector<std::unique_ptr<Wire>> impatient_pair(Failures& failures) {
  std::vector<std::unique_ptr<Wire>> wires;
  wires.push_back(std::move(*Wire::open(0, kSecret, failures, 200'000'000)));
  wires.push_back(std::move(*Wire::open(1, kSecret, failures, kTimeout)));
  for (auto& wire : wires) wire->set_addresses({loopback(wires[0]->listen_port()), loopback(wires[1]->listen_port())});
  return wires;
}

// This process's socket that listens at the port.
inline int listener_at(std::uint16_t port) {
  for (int socket = 0; socket < 1024; ++socket) {
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) continue;
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &length) != 0) continue;
    if (ntohs(reinterpret_cast<sockaddr_in&>(bound).sin_port) == port) return socket;
  }
  ADD_FAILURE() << "no socket listens at port " << port;
  return -1;
}

// While it lives, the kernel answers no connection to this process's listener: its accept queue has room for one, which
// has been made.
class FullAcceptQueue {
 public:
  explicit FullAcceptQueue(int listener) : listener_(listener), filler_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &length), 0);
    const ListenAddress address = loopback(ntohs(reinterpret_cast<sockaddr_in&>(bound).sin_port));
    EXPECT_EQ(listen(listener_, 0), 0);
    EXPECT_EQ(connect(filler_, reinterpret_cast<const sockaddr*>(&address.address), address.length), 0);
  }
  ~FullAcceptQueue() {
    close(filler_);
    EXPECT_EQ(listen(listener_, SOMAXCONN), 0);
  }
  FullAcceptQueue(const FullAcceptQueue&) = delete;
  FullAcceptQueue& operator=(const FullAcceptQueue&) = delete;

 private:
  int listener_;
  int filler_;
};

// The local ports of this process's sockets that are asking for a connection.
inline std::set<std::uint16_t> ports_that_ask() {
  std::set<std::uint16_t> found;
  for (int socket = 0; socket < 1024; ++socket) {
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    if (tcp_facts(socket).state != TCP_SYN_SENT) continue;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &length) != 0) continue;
    found.insert(ntohs(reinterpret_cast<sockaddr_in&>(bound).sin_port));
  }
  return found;
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
