// SPDX-License-Identifier: BSD-3-Clause
// What comes by the connections of the link by transport `wire`: which frames are allowed, where their payload goes,
// and what the endpoint is told.
//
// Thread-safety: by who has the endpoint's lock, within the link's poll().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "p2p/link.hpp"
#include "transport/link/link_connections.hpp"
#include "transport/link/link_peer_state.hpp"
#include "transport/link/link_reports.hpp"
#include "transport/link/link_sender.hpp"
#include "transport/link/link_settings.hpp"
#include "transport/link/spread_payload.hpp"
#include "transport/link/striped_payload.hpp"
#include "transport/wire/connection.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

class LinkReceiver final : private Connection::Sink {
 public:
  using LinkPeer = p2p::LinkPeer;
  using LinkTicket = p2p::LinkTicket;

  LinkReceiver(const Wire& wire, const LinkSettings& settings, LinkPeers& peers, LinkConnections& connections,
               LinkSender& sender, StripedPayload& striped, SpreadPayload& spread, LinkReports& reports)
      : wire_(wire),
        settings_(settings),
        peers_(peers),
        connections_(connections),
        sender_(sender),
        striped_(striped),
        spread_(spread),
        reports_(reports) {}

  // The connection has these events of epoll.
  void serve(Connection& connection, std::uint32_t events);
  // For a broken connection: takes the frames that had reached this node before it broke.
  void receive_rest(Connection& connection) { connection.receive_rest(*this); }

 private:
  std::byte* place(Connection& from, const Frame& frame) override;
  bool arrived(Connection& from, const Frame& frame) override;
  bool answered(Connection& from);
  bool piece_arrived(LinkPeerState& from, const ConnectionState& by, const Frame& frame);

  const Wire& wire_;
  const LinkSettings& settings_;
  LinkPeers& peers_;
  LinkConnections& connections_;
  LinkSender& sender_;
  StripedPayload& striped_;
  SpreadPayload& spread_;
  LinkReports& reports_;
  std::vector<Connection::Outgoing> gone_;  // for flush(): nobody waits for any
};

}  // namespace urakata::transport
