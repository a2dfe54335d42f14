// SPDX-License-Identifier: BSD-3-Clause
// What the kernel knows of a TCP connection; the tcp_info of most C libraries has room for the first part only.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace urakata::transport {

// As the kernel's own tcp_info (linux/tcp.h) begins and goes on; 0 where the kernel is too old for a field.
struct TcpFacts {
  std::uint8_t state = 0, congestion_state = 0, retransmits = 0, probes = 0, backoff = 0, options = 0, scales = 0,
               flags = 0;
  std::uint32_t timeout_us = 0, ack_timeout_us = 0, send_segment = 0, receive_segment = 0;
  std::uint32_t not_acknowledged = 0, selectively = 0, lost = 0, again = 0, forward = 0;  // segments under way
  std::uint32_t since_sent_ms = 0, since_ack_sent_ms = 0, since_received_ms = 0, since_ack_ms = 0;
  std::uint32_t path_bytes = 0, receive_threshold = 0, round_trip_us = 0, round_trip_variation_us = 0;
  std::uint32_t send_threshold = 0, congestion_window = 0, advertised_segment = 0, reordering = 0;
  std::uint32_t receive_round_trip_us = 0, receive_space = 0, sent_again = 0;
  // From here on the C library's tcp_info may have none.
  std::uint64_t pacing_rate = 0, max_pacing_rate = 0;
  std::uint64_t bytes_acked = 0, bytes_received = 0;
  std::uint32_t segments_out = 0, segments_in = 0;
  std::uint32_t bytes_not_sent = 0;
  std::uint32_t least_round_trip_us = 0;  // of all that was sent, the handshake included
  std::uint32_t data_segments_in = 0, data_segments_out = 0;
  std::uint64_t delivery_rate = 0;  // bytes/s
  std::uint64_t busy_us = 0;        // in which something was under way, or wanted to be; of that,
  std::uint64_t receiver_us = 0;    // in which the receiver had no room for more
};
static_assert(offsetof(TcpFacts, round_trip_us) == offsetof(tcp_info, tcpi_rtt));
static_assert(offsetof(TcpFacts, sent_again) == offsetof(tcp_info, tcpi_total_retrans));
static_assert(offsetof(TcpFacts, pacing_rate) == 104);

// us in which the network was all that it waited for.
inline std::uint64_t carrying_us(const TcpFacts& facts) {
  return facts.busy_us - std::min(facts.busy_us, facts.receiver_us);
}

// All 0 where the socket is none of TCP's. Thread-safe.
inline TcpFacts tcp_facts(int socket) {
  TcpFacts facts;
  socklen_t size = sizeof facts;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &facts, &size) != 0) facts = {};
  return facts;
}

}  // namespace urakata::transport
