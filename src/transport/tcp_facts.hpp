// What the kernel knows of a TCP connection, beyond what the C library's tcp_info has room for.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdint>

namespace urakata::transport {

struct TcpFacts {
  tcp_info common{};
  // As the kernel's own tcp_info goes on; 0 where it is too old for a field.
  std::uint64_t pacing_rate = 0, max_pacing_rate = 0;
  std::uint64_t bytes_acked = 0, bytes_received = 0;
  std::uint32_t segments_out = 0, segments_in = 0;
  std::uint32_t bytes_not_sent = 0;
  std::uint32_t least_round_trip_us = 0;  // of all that was sent, the handshake included
  std::uint32_t data_segments_in = 0, data_segments_out = 0;
  std::uint64_t delivery_rate = 0;  // bytes/s
};
static_assert(sizeof(tcp_info) == 104, "the C library's ends where the kernel's first ended");

// All 0 where the socket is none of TCP's. Thread-safe.
inline TcpFacts tcp_facts(int socket) {
  TcpFacts facts;
  socklen_t size = sizeof facts;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &facts, &size) != 0) facts = {};
  return facts;
}

}  // namespace urakata::transport
