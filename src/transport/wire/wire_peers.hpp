// SPDX-License-Identifier: BSD-3-Clause
// All peers of a Wire, and the connections to them: made, settled between the two processes, watched and lost.
//
// Who is lost: a peer whose connection has ended, and which cannot be connected to again (Connector::renew()). All that
// is under way with it fails then.
//
// Thread-safety: under the Wire's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "transport/failures.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/connector.hpp"
#include "transport/wire/failed_contexts.hpp"
#include "transport/wire/put_sinks.hpp"
#include "transport/wire/wire_peer.hpp"

namespace urakata::transport {

class WirePeers {
 public:
  // The epoll set `epoll` watches the connections; `sinks` are told of lost peers; `failure` is the error code of
  // messages that fail.
  WirePeers(const Connector& connector, const PutSinks& sinks, int epoll, int failure)
      : connector_(connector), sinks_(sinks), epoll_(epoll), failure_(failure) {}

  WirePeer& peer(std::int32_t rank) { return peers_.try_emplace(rank, failed_, failure_).first->second; }

  // --- connections ---

  // Connects to the peer, unless there is a connection or one under way. False: it is lost; the user is told if it
  // cannot be connected to.
  bool reach(std::int32_t rank, WirePeer& to);
  // From now on the connection belongs here.
  void adopt(std::unique_ptr<Connection> accepted) { connections_.push_back(std::move(accepted)); }
  // The frames of these names have come on a connection that belongs here. False: it is to be closed.
  bool hello(Connection& from, std::int32_t rank);
  bool hello_ack(Connection& from, std::int32_t rank);

  // --- the watch over them ---

  // Once in a quarter of the timeout: loses the peers whose nodes no longer answer. Also connects to each peer from
  // which a receive is posted; if that cannot be done, its receives fail.
  void check();
  // If the connection has ended for good, its peer is lost.
  void lose_if_ended(Connection& connection) {
    if (ended(connection)) lose(connection);
  }
  void lose_if_ended(const WirePeer& of) {
    if (Connection* const connection = of.pair.get(); connection != nullptr) lose_if_ended(*connection);
  }
  // A connection has ended. That is the usual end of a peer from whom we want nothing more; else its messages are lost.
  void lose(Connection& connection);
  // Deletes the connections that nobody can ask for any more. No event of theirs may be pending.
  void forget_ended();

  // --- what has failed elsewhere ---

  // Gives up all messages of `instance`. Returns how many there were.
  std::size_t cancel(const void* instance);
  // Drops all payloads of this sink that have not left, and stops all reads into its memory.
  void abandon(PutSink& sink);
  // Tells the peer that operations have failed; messages for our own context are thrown away from now on.
  void tell(std::int32_t rank, const Notice& notice);

 private:
  bool connect(std::int32_t rank, WirePeer& to);
  bool ended(Connection& connection) const;

  const Connector& connector_;
  const PutSinks& sinks_;
  const int epoll_;
  const int failure_;

  FailedContexts failed_;
  std::unordered_map<std::int32_t, WirePeer> peers_;
  std::vector<std::unique_ptr<Connection>> connections_;  // the oldest first
};

}  // namespace urakata::transport
