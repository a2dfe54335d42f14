// SPDX-License-Identifier: BSD-3-Clause
// What the link by transport `wire` sends: frames by the ordered connection, and payload by it, by `bulk` or by
// stripes.
//
// Thread-safety: by who has the endpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "p2p/link.hpp"
#include "transport/link/link_connections.hpp"
#include "transport/link/link_peer_state.hpp"
#include "transport/link/link_reports.hpp"
#include "transport/link/link_settings.hpp"
#include "transport/link/link_stripes.hpp"
#include "transport/link/spread_payload.hpp"
#include "transport/link/striped_payload.hpp"

namespace urakata::transport {

class LinkSender {
 public:
  using Elements = p2p::Elements;
  using Envelope = p2p::Envelope;
  using LinkPeer = p2p::LinkPeer;
  using LinkTicket = p2p::LinkTicket;

  LinkSender(const LinkSettings& settings, LinkPeers& peers, LinkConnections& connections, StripedPayload& striped,
             SpreadPayload& spread, LinkReports& reports)
      : settings_(settings),
        peers_(peers),
        connections_(connections),
        striped_(striped),
        spread_(spread),
        reports_(reports) {}

  void carry_by(LinkStripes& stripes) { stripes_ = &stripes; }

  // As the link's.
  bool send_eager(LinkPeer to, const Envelope& envelope, const std::byte* payload, std::uint64_t bytes,
                  LinkTicket ticket);
  void send_rts(LinkPeer to, const Envelope& envelope, std::uint64_t bytes, LinkTicket send, const Elements* source);
  void send_cts(LinkPeer to, LinkTicket send, LinkTicket receive, const Elements& target, std::uint64_t bytes);
  void send_payload(LinkPeer to, LinkTicket receive, const Elements& source, std::uint64_t bytes, LinkTicket send);
  std::uint64_t moved(LinkPeer peer, LinkTicket ticket, bool send) const;
  void consumed(LinkPeer from, std::uint64_t bytes);

  // Payload, as much as the kernel takes now.
  void push(LinkPeer to);

 private:
  using Dispatch = SpreadPayload::Dispatch;

  bool send_short(LinkPeer to, LinkTicket receive, const Elements& source, std::uint64_t bytes, LinkTicket send);

  const LinkSettings& settings_;
  LinkPeers& peers_;
  LinkConnections& connections_;
  StripedPayload& striped_;
  SpreadPayload& spread_;
  LinkReports& reports_;
  LinkStripes* stripes_ = nullptr;  // nullptr: there are none; constant after carry_by()
  std::vector<std::byte> short_;    // a short payload that is put together, while it is handed on
};

}  // namespace urakata::transport
