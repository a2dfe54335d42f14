// SPDX-License-Identifier: BSD-3-Clause
// The link's payload to ranks at other sites, which stripes carry: what goes with its RTS, and what follows a CTS.
//
// Thread-safety: by who has the endpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "p2p/link.hpp"
#include "transport/link/fork_watch.hpp"
#include "transport/link/link_connections.hpp"
#include "transport/link/link_peer_state.hpp"
#include "transport/link/link_reports.hpp"
#include "transport/link/link_settings.hpp"
#include "transport/link/link_stripes.hpp"
#include "transport/link/spread_payload.hpp"
#include "transport/wire/frame.hpp"

namespace urakata::transport {

class StripedPayload {
 public:
  using Elements = p2p::Elements;
  using Envelope = p2p::Envelope;
  using LinkPeer = p2p::LinkPeer;
  using LinkTicket = p2p::LinkTicket;

  StripedPayload(const LinkSettings& settings, const ForkWatch& forks, LinkPeers& peers, LinkConnections& connections,
                 SpreadPayload& spread, LinkReports& reports)
      : settings_(settings),
        forks_(forks),
        peers_(peers),
        connections_(connections),
        spread_(spread),
        reports_(reports) {}

  void carry_by(LinkStripes& stripes) { stripes_ = &stripes; }

  // Does payload of so many bytes go by stripes?
  bool carries(LinkPeer peer, std::uint64_t bytes) const;
  // An RTS and its payload. False: it does not go ahead; nothing was done.
  bool send_ahead(LinkPeer to, const Envelope& envelope, std::uint64_t bytes, LinkTicket send, const Elements& source,
                  bool eager);
  // The same with a copy of the payload, for which nobody waits.
  bool send_eager(LinkPeer to, const Envelope& envelope, const std::byte* payload, std::uint64_t bytes);
  // As the link's send_payload() and send_cts(). They return whether the payload goes by stripes.
  bool send(LinkPeer to, const Elements& source, std::uint64_t bytes, LinkTicket send);
  bool receive(LinkPeer from, LinkTicket send, LinkTicket receive, const Elements& target, std::uint64_t bytes);

  // Within the link's poll(). Frames of a peer, whose tails have come; false: such a frame is not allowed.
  bool rts_arrived(LinkPeer from, const Frame& frame);
  bool cts_arrived(LinkPeer from, const Frame& frame);
  // Moves the stripes on.
  void poll();

 private:
  void sent(LinkPeer to, LinkTicket send);

  const LinkSettings& settings_;
  const ForkWatch& forks_;
  LinkPeers& peers_;
  LinkConnections& connections_;
  SpreadPayload& spread_;
  LinkReports& reports_;
  LinkStripes* stripes_ = nullptr;  // nullptr: there are none; constant after carry_by()
  std::uint64_t eager_sent_ = 0;    // so many have gone
};

}  // namespace urakata::transport
