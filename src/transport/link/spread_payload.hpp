// SPDX-License-Identifier: BSD-3-Clause
// The link's payload to ranks at the same site that stripes carry, where several connections are faster than one.
//
// Thread-safety: by who has the endpoint's lock.
#pragma once

#include <cstdint>

#include "p2p/link.hpp"
#include "transport/link/link_connections.hpp"
#include "transport/link/link_peer_state.hpp"
#include "transport/link/link_reports.hpp"
#include "transport/link/link_stripes.hpp"
#include "transport/wire/frame.hpp"

namespace urakata::transport {

class SpreadPayload {
 public:
  using LinkPeer = p2p::LinkPeer;

  SpreadPayload(LinkPeers& peers, LinkConnections& connections, LinkReports& reports)
      : peers_(peers), connections_(connections), reports_(reports) {}

  void carry_by(LinkStripes& stripes) { stripes_ = &stripes; }

  // How the first payload that is leaving goes on. `spread`: it has been given to stripes.
  enum class Dispatch : std::uint8_t { plain, spread, later };
  Dispatch dispatch(LinkPeer to, LinkPeerState& other);
  // Stripes have done with a payload.
  void ended(LinkPeer to);
  // The peer spreads a payload that it was asked for. False: that frame is not allowed.
  bool arrived(LinkPeer from, const Frame& frame);
  // Samples what was carried, where something is under way.
  void note_all_carried();
  // All that is under way to the peer is given up.
  void forget(LinkPeerState& other);

 private:
  void note_carried(LinkPeer to, LinkPeerState& other);
  static void tell_width(LinkPeer to, SpreadState& spread);

  LinkPeers& peers_;
  LinkConnections& connections_;
  LinkReports& reports_;
  LinkStripes* stripes_ = nullptr;  // nullptr: there are none; constant after carry_by()
  std::uint64_t open_ = 0;          // payloads that are spread and open
};

}  // namespace urakata::transport
