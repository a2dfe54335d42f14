// SPDX-License-Identifier: BSD-3-Clause
// Both ends of a real connection in one process.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace urakata::chain {

// Blocking sockets over the loopback, as channel sets have them; the caller's.
inline std::array<int, 2> connected() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listener, 1), 0);
  EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(one, reinterpret_cast<sockaddr*>(&address), size), 0);
  const int other = accept(listener, nullptr, nullptr);
  close(listener);
  const int yes = 1;
  for (const int end : {one, other}) EXPECT_EQ(setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes), 0);
  return {one, other};
}

}  // namespace urakata::chain
