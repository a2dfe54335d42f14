// SPDX-License-Identifier: BSD-3-Clause
// The messages of a Wire to one peer. One of up to kEager bytes goes at once. A longer one waits here until its
// receive is there: `rts`, `cts`, `payload` (frame.hpp).
//
// Thread-safety: under the Wire's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "transport/transport.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/pair_connection.hpp"

namespace urakata::transport {

class WirePort;

class WireSends {
 public:
  static constexpr std::uint64_t kEager = 128UL * 1024;

  // Over the connection `pair`, which outlives this object.
  explicit WireSends(PairConnection& pair) : pair_(pair) {}

  // True: it has gone. Else the port is told when it has.
  bool send(WirePort& port, const Message& message, const Ticket& ticket);
  // The peer has the receive of message `id`.
  void cts_received(std::uint64_t id);

  // Gives up the waiting messages of `instance`. Returns how many there were.
  std::size_t cancel(const void* instance);
  // The peer is lost: the ports of waiting messages are told `failure`. Returns whether there were any.
  bool lose(int failure);

 private:
  PairConnection& pair_;
  std::map<std::uint64_t, Connection::Outgoing> waiting_;  // for a CTS, by id
  std::uint64_t next_id_ = 0;
};

}  // namespace urakata::transport
