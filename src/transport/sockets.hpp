// The sockets of transport wire and of conduits (chain/listener.hpp): where a process listens, and what is set on each
// connection.
//
// Thread-safety: by any thread.
#pragma once

#include <sys/socket.h>

#include <cstdint>

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

struct ListenSocket {
  int descriptor = -1;
  std::uint16_t port = 0;  // the same for all of this machine's addresses
};

// A socket that listens for IPv6 and IPv4, or for IPv4 where there is no IPv6: non-blocking, closed by exec, and left out
// of SocketWatch. The caller ends with close_listener(). `purpose` is for the error: "messages between nodes".
Result<ListenSocket> open_listener(const char* purpose);
void close_listener(int descriptor);  // -1: nothing

// An idle connection is asked for a sign of life after half of the timeout, and a few times more in the other half.
void keep_alive(int connection, std::uint64_t timeout_ns);

void set_option(int socket, int level, int name, int value);

}  // namespace urakata::transport
