// SPDX-License-Identifier: BSD-3-Clause
// The connections of the link by transport `wire`: which there are to a peer (wire_link.hpp says which), the loss of a
// peer, and frames that go by the ordered one.
//
// Thread-safety: by who has the endpoint's lock.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "p2p/link.hpp"
#include "transport/link/fork_watch.hpp"
#include "transport/link/link_peer_state.hpp"
#include "transport/link/link_readiness.hpp"
#include "transport/link/link_reports.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

class LinkConnections {
 public:
  using LinkPeer = p2p::LinkPeer;

  LinkConnections(Wire& wire, const ForkWatch& forks, LinkReadiness& readiness, LinkReports& reports, LinkPeers& peers)
      : wire_(wire), forks_(forks), readiness_(readiness), reports_(reports), peers_(peers) {}

  // Sends a frame by the ordered connection, or keeps a copy until there is one. False: the connection is broken. The
  // payload is the caller's again.
  bool send(LinkPeer to, const Frame& frame, std::span<const std::byte> payload);

  // Begins to make the connection if this process has neither made nor accepted one. Returns whether it is open.
  bool connect(LinkPeer to, ConnectionState& state);
  // One that a peer has made. Returns whether its bulk connection is open now, so that payload may go.
  bool adopt(Wire::Accepted&& accepted);
  // The peer has answered on a connection: which of them is open now. nullptr: nobody has asked it.
  ConnectionState* answered(Connection& from);

  // The peer is to be told as failed by poll().
  void lose(LinkPeer rank);
  // Loses the peers that have gone without a word.
  void check();
  // Closes all connections to a peer.
  void close(LinkPeerState& peer);
  // No event can name a closed connection any more.
  void forget_closed() { closed_.clear(); }

 private:
  void opened(LinkPeer rank, ConnectionState& state);
  void bury(std::unique_ptr<Connection>& connection);

  Wire& wire_;
  const ForkWatch& forks_;
  LinkReadiness& readiness_;
  LinkReports& reports_;
  LinkPeers& peers_;
  std::vector<std::unique_ptr<Connection>> closed_;  // in poll(), which may be ready
};

}  // namespace urakata::transport
