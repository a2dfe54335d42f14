// SPDX-License-Identifier: BSD-3-Clause
// All that transport `stripes` knows of one other rank.
//
// Thread-safety: under the lock of Stripes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>

#include "base/link_facts.hpp"
#include "transport/stripes/incoming_message.hpp"
#include "transport/stripes/outgoing_message.hpp"
#include "transport/stripes/stripe.hpp"
#include "transport/stripes/stripe_traffic.hpp"
#include "transport/wire/node_probe.hpp"

namespace urakata::transport {

// For how long nothing has been heard of a rank of which something is wanted. Times in ns.
struct PeerSilence {
  std::optional<std::uint64_t> down_since_ns;    // nothing wanted of it has been answered since; else a stripe is there
  std::optional<std::uint64_t> wanted_since_ns;  // something is wanted of it since, as far as the last tick knows
  std::unique_ptr<NodeProbe> node;               // asked since its process accepts no stripe

  // Something is wanted of it from now on, if nothing was.
  void note_wanted(std::uint64_t (*now)()) {
    if (!wanted_since_ns) wanted_since_ns = now();
  }
  // Nothing has been heard of it for `silence_ns`. Only the time counts in which something was wanted of it. A new
  // connection has a second all the same, since the link may be back.
  void note_down(std::uint64_t silence_ns, std::uint64_t now, std::uint64_t timeout_ns);
};

struct StripePeer {
  explicit StripePeer(std::int32_t number) : rank(number) {}

  const std::int32_t rank;
  bool near = false;    // at this site
  bool failed = false;  // for good
  // A stripe was lost on which an acknowledgement may not have arrived: pieces may come again from now on.
  bool untold = false;
  bool awaited = false;            // StripeCounts counts it as one of those from which a receive is open
  Streams streams;                 // of messages that do not say how many; 0: as many as all have
  std::uint32_t busy_stripes = 0;  // most stripes that a message of the site's busy period may use to this peer
  std::list<Stripe> stripes;
  std::uint64_t again_ns = 0;  // no stripe is made before this time
  OutgoingMessages outgoing;
  IncomingMessages incoming;
  PeerSilence silence;
  StripeTraffic traffic;

  // How many stripes that are not broken: ours (`out`) or the peer's; with `open` only those that have been answered.
  std::size_t alive(bool out, bool open) const;
  // Whether sends to the peer or receives from it are open.
  bool wanted() const { return !outgoing.open.empty() || incoming.any_posted(); }
  // May an acknowledgement be on its way to it? The kernel knows when it has arrived, and tells nobody.
  bool acknowledging() const;
  // Whether the peer may lack an acknowledgement, also one that was lost with its stripe.
  bool telling() const { return untold || acknowledging(); }
  // Nothing is wanted of it, so how long it has said nothing means nothing.
  void forget_silence();
};

class StripePeers {
 public:
  // The entry of a rank, which is made if there is none. Its address never changes.
  StripePeer& at(std::int32_t rank) { return peers_.try_emplace(rank, rank).first->second; }
  // nullptr: there is none.
  StripePeer* find(std::int32_t rank) {
    const auto found = peers_.find(rank);
    return found == peers_.end() ? nullptr : &found->second;
  }
  auto begin() { return peers_.begin(); }
  auto end() { return peers_.end(); }
  void clear() { peers_.clear(); }

 private:
  std::map<std::int32_t, StripePeer> peers_;
};

}  // namespace urakata::transport
