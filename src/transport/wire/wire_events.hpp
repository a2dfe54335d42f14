// SPDX-License-Identifier: BSD-3-Clause
// What the sockets of a Wire have to say: events of its epoll sets, and the frames that come.
//
// Thread-safety: under the Wire's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/failures.hpp"
#include "transport/wire/acceptor.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/connector.hpp"
#include "transport/wire/prober.hpp"
#include "transport/wire/wire_peers.hpp"
#include "transport/wire/wire_puts.hpp"

namespace urakata::transport {

class WireEvents final : private Connection::Sink {
 public:
  // The parts of the Wire, among which events and frames are shared out; notices go to `failures`.
  WireEvents(const Connector& connector, Acceptor& acceptor, Prober& prober, WirePeers& peers, WirePuts& puts,
             Failures& failures)
      : connector_(connector), acceptor_(acceptor), prober_(prober), peers_(peers), puts_(puts), failures_(failures) {}

  // Serves the ready events of an epoll set: the Wire's, or the acceptor's. Now and then also checks for nodes that no
  // longer answer.
  void poll(int set);

 private:
  bool serve(int set);
  void check_connections();
  void adopt(const Connection& accepted);

  std::byte* place(Connection& from, const Frame& frame) override;
  bool arrived(Connection& from, const Frame& frame) override;

  const Connector& connector_;
  Acceptor& acceptor_;
  Prober& prober_;
  WirePeers& peers_;
  WirePuts& puts_;
  Failures& failures_;

  unsigned polls_ = 0;
  std::uint64_t next_check_ns_ = 0;
  std::vector<Connection::Outgoing> sent_;  // while serve() flushes a connection
};

}  // namespace urakata::transport
