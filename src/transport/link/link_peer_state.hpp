// SPDX-License-Identifier: BSD-3-Clause
// All that the link by transport `wire` knows of one other rank.
//
// Thread-safety: by who has the endpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "p2p/link.hpp"
#include "transport/link/link_settings.hpp"
#include "transport/stripes/stripe_traffic.hpp"
#include "transport/stripes/width.hpp"
#include "transport/wire/connection.hpp"

namespace urakata::transport {

struct ConnectionState {                   // of one of the connections to a peer
  std::unique_ptr<Connection> open;        // both sides know that it is the one
  std::unique_ptr<Connection> asked;       // made by us, while the peer has not said hello_ack
  std::unique_ptr<Connection> superseded;  // the peer's, in place of which it will find ours; not read
  std::vector<std::byte> room;             // of a payload that does not go straight to its place
};

struct Landing {  // a payload on its way here
  p2p::Elements target;
  std::uint64_t bytes = 0;
  std::uint64_t at = 0;
};

struct Leaving {  // a payload on its way out
  p2p::LinkTicket receive{};
  p2p::Elements source;
  std::uint64_t bytes = 0;
  std::uint64_t at = 0;
  p2p::LinkTicket send{};
};

struct AheadOut {  // a payload that has gone with its RTS
  std::uint32_t order = 0;
  std::uint64_t bytes = 0;    // of LinkSizes::kAhead
  bool over = false;          // the stripes have done with it
  bool answered = false;      // there is a CTS
  bool unwanted = false;      // it wants nothing
  bool eager = false;         // nobody waits for it
  p2p::LinkTicket receive{};  // of the CTS
};

struct AheadHere {  // one of a peer's whose receive has not been matched
  std::uint32_t order = 0;
  std::uint64_t bytes = 0;
};

struct AheadPayloads {
  std::map<p2p::LinkTicket, AheadOut> out;          // by send
  std::map<p2p::LinkTicket, AheadHere> here;        // likewise
  std::map<std::uint32_t, p2p::LinkTicket> drains;  // by order: what nobody wants and is coming, to be answered then
};

struct SpreadState {  // of payload to a rank at this site
  Width width;
  std::uint32_t connections = 1;       // over which the next goes
  bool ready = false;                  // more than one have been there
  std::uint32_t open = 0;              // payloads that stripes have
  std::uint64_t since_ns = 0;          // when `connections` was last set
  std::uint64_t noted_ns = 0;          // when it was last asked what was carried; since then
  std::uint64_t short_bytes = 0;       // that went by `bulk` and would not be spread
  StripeIncrease bulk_noted;           // in all, then
  StripeIncrease by_bulk, by_stripes;  // since the width was told last
};

struct LinkPeerState {
  bool failed = false;
  ConnectionState ordered;
  ConnectionState bulk;
  std::vector<Connection::Outgoing> held;  // frames that wait for the ordered connection
  std::deque<Leaving> leaving;             // the first has begun, or waits until it may be spread, or not be spread
  std::vector<std::byte> packed;           // the piece under way, of elements with holes
  std::map<p2p::LinkTicket, Landing> landings;
  AheadPayloads ahead;
  SpreadState spread;
  std::uint64_t credit = 0;  // that we have there
  std::uint64_t owed = 0;    // that we have not given back
};

class LinkPeers {
 public:
  explicit LinkPeers(const LinkSettings& settings) : settings_(settings) {}

  // The state of a rank, which is made if there is none. Its address never changes.
  LinkPeerState& at(p2p::LinkPeer rank) {
    const auto [it, made] = peers_.try_emplace(rank);
    if (made) {
      it->second.credit = settings_.credit;
      it->second.spread.width = Width(settings_.connections);
    }
    return it->second;
  }
  // nullptr: there is none.
  const LinkPeerState* find(p2p::LinkPeer rank) const {
    const auto found = peers_.find(rank);
    return found == peers_.end() ? nullptr : &found->second;
  }
  auto begin() { return peers_.begin(); }
  auto end() { return peers_.end(); }
  auto begin() const { return peers_.begin(); }
  auto end() const { return peers_.end(); }

 private:
  const LinkSettings& settings_;
  std::unordered_map<p2p::LinkPeer, LinkPeerState> peers_;
};

}  // namespace urakata::transport
