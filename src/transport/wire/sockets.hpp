// SPDX-License-Identifier: BSD-3-Clause
// The sockets of transport wire and of channel sets (chain/listener.hpp): where a process listens, and what is set on
// each connection.
//
// Thread-safety: by any thread.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/interfaces.hpp"
#include "base/result.hpp"

namespace urakata::transport {

// What each connection begins with, so that only those of the job's own processes are accepted. Drawn by rank 0.
struct Secret {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const Secret&) const = default;
};

// An address with a port: IPv4 or IPv6.
struct ListenAddress {
  sockaddr_storage address{};
  socklen_t length = 0;
};

struct ListenSockets {
  std::vector<int> descriptors;
  std::uint16_t port = 0;  // the same for all of them
};

// Sockets that listen at the addresses `only`; at all addresses of this machine if `only` is empty (one socket for IPv6
// and IPv4, or for IPv4 where the machine has no IPv6). Addresses that this machine does not have (any more, or yet)
// are left out; if it has none of them, that is an error. They are non-blocking, closed by exec, and left out of
// SocketWatch. Their accept queues are as long as the system allows (net.core.somaxconn). The caller ends with
// close_listeners(). `purpose` is for the error: "messages between nodes".
Result<ListenSockets> open_listeners(const char* purpose, std::span<const InterfaceAddress> only);
void close_listeners(std::span<const int> descriptors);

// Whether `code` is the errno of an accept() without a descriptor or memory for the connection. The connection waits,
// and its listener stays readable: no thread should sleep by it for a while. Warns the user, once for each code and
// purpose. `purpose`: as above.
bool cannot_accept(int code, const char* purpose);

// An idle connection is asked for a sign of life after half of the timeout, and a few times more in the other half.
void keep_alive(int connection, std::uint64_t timeout_ns);

// A connection that is younger than this may have its first bytes still on the way.
inline constexpr std::uint64_t kFirstBytesTime = 200'000'000;  // ns

// How many connections that have not named the job's secret a listener's owner keeps at most, however young they are:
// 1024, but no more than a quarter of the process's limit of descriptors.
std::size_t most_unauthenticated();

// close() drops the connection with all that was not acknowledged, and the other node is told at once (RST).
void close_at_once(int connection);

void set_option(int socket, int level, int name, int value);

}  // namespace urakata::transport
