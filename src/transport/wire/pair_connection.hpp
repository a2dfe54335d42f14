// SPDX-License-Identifier: BSD-3-Clause
// The connection of this process and one peer, for what both send.
//
// Either process may begin it. Where both do at once, the lower rank's connection is the one. So the higher rank sends
// nothing on the connection that it has begun before the lower rank has acknowledged it; its frames are held here.
//
// Thread-safety: under the Wire's lock. The connections belong to WirePeers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/wire/connection.hpp"

namespace urakata::transport {

// A frame that was `reported` has gone: tells its port, which is a PutSink (is_put()) or a WirePort.
void report_sent(const Connection::Outgoing& sent);

class PairConnection {
 public:
  PairConnection() = default;
  PairConnection(const PairConnection&) = delete;
  PairConnection& operator=(const PairConnection&) = delete;

  // nullptr: there is none, or it is not settled which.
  Connection* get() const { return connection_; }
  bool broken() const { return connection_ != nullptr && connection_->broken(); }
  // Whether there is a connection, or one is being made.
  bool begun() const { return connection_ != nullptr || asked_ != nullptr; }
  bool has(const Connection& one) const { return &one == connection_ || &one == asked_; }
  bool has_asked(const Connection& one) const { return &one == asked_; }

  // This process connects. `settled`: it is the lower rank.
  void begin(Connection& ours, bool settled) { (settled ? connection_ : asked_) = &ours; }
  // This is the pair's connection: what was held goes, and the connection that this process has begun ends if it is
  // another one.
  void settle(Connection& one);
  // This connection has ended. False: it was not the pair's.
  bool end_with(const Connection& one);

  // True: all has gone.
  bool send(Connection::Outgoing&& out);
  // For a frame without payload that nobody waits for: as Connection::send_soon().
  void send_soon(Connection::Outgoing&& out);
  // As Connection::take_back().
  std::size_t take_back(const void* instance);
  // Takes all that has not gone, where the connection has ended.
  std::vector<Connection::Outgoing> take_unsent();

  // Room for an incoming payload that nobody wants, until the next one comes.
  std::byte* throw_away(std::uint64_t bytes);
  // Nobody wants the rest of the payload under way.
  void throw_rest_away() { connection_->divert(throw_away(connection_->incoming())); }

 private:
  Connection* connection_ = nullptr;        // for both ways
  Connection* asked_ = nullptr;             // ours, while the peer has not acknowledged it
  std::vector<Connection::Outgoing> held_;  // what this process wants to send meanwhile
  std::vector<std::byte> thrown_away_;
};

}  // namespace urakata::transport
