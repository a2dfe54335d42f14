// SPDX-License-Identifier: BSD-3-Clause
// Long payload of the link (wire_link.hpp) by transport `stripes`: to ranks at other sites, over as many connections as
// fill the links between sites; and to ranks at this site if it is spread over several connections. If a connection is
// lost, the remaining ones carry its payload.
//
// A pair of ranks has kOrders sequences (*orders*) of payloads in each direction. Both processes begin the payloads of
// an order in the same sequence and cut them alike, into slices of kSlice. So the k-th message of the stripes at one
// end is the k-th at the other, and needs no further name. Order 0 has the payloads that follow a CTS, in the sequence
// of the CTS, or at one site of `link_spread`. A payload that is sent before its CTS has an order of its own until the
// CTS comes. A sender has at most kSlices of a payload under way. So has a receiver whose elements have holes: it
// unpacks each slice from a buffer of ours.
//
// Ownership: elements are the caller's again when finished() reports them, or after forget().
//
// Thread-safety: as p2p::Link says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "p2p/link.hpp"
#include "transport/stripes/stripes.hpp"
#include "transport/stripes/stripes_port.hpp"

namespace urakata::transport {

class LinkStripes {
 public:
  using Elements = p2p::Elements;
  using LinkPeer = p2p::LinkPeer;
  using LinkTicket = p2p::LinkTicket;

  static constexpr std::uint64_t kSlice = 16UL << 20;  // bytes; four times what stripes send before they ask
  static constexpr std::size_t kSlices = 2;
  static constexpr std::uint32_t kOrders = 17;

  // far[rank]: its payload goes by stripes; empty: nobody's does. The stripes outlive this.
  LinkStripes(Stripes& stripes, std::vector<bool> far) : stripes_(stripes), port_(stripes), far_(std::move(far)) {}

  // To a rank that is not far. See Stripes.
  bool prepare(LinkPeer peer, std::uint32_t streams) {
    return stripes_.prepare(static_cast<std::int32_t>(peer), streams);
  }
  Stripes::Increase carried_since(LinkPeer peer) { return stripes_.carried_since(static_cast<std::int32_t>(peer)); }

  bool carries(LinkPeer peer) const { return !far_.empty() && far_[static_cast<std::size_t>(peer)]; }
  // Each is readable while poll() would do something.
  std::vector<int> descriptors() const { return port_.descriptors(); }

  // `bytes`: more than 0, as many as are received. `copied`: the source is the caller's again at once.
  void send(LinkPeer to, std::uint32_t order, const Elements& source, std::uint64_t bytes, LinkTicket ticket,
            bool copied = false);
  // The first `wanted` of `bytes` that are sent.
  void receive(LinkPeer from, std::uint32_t order, const Elements& target, std::uint64_t wanted, std::uint64_t bytes,
               LinkTicket ticket);

  void poll();
  // A payload that has ended since the last call of finished().
  struct Finished {
    LinkPeer peer;
    std::uint32_t order;
    LinkTicket ticket;
    bool sent;    // else received
    bool failed;  // all stripes to the peer are lost
  };
  std::vector<Finished> finished() { return std::exchange(finished_, {}); }
  bool any_finished() const { return !finished_.empty(); }

  // Gives up all that is open with this peer.
  void forget(LinkPeer peer);
  bool open_with(LinkPeer peer) const;
  // Whether a payload is on its way out, or not acknowledged.
  bool sending();
  // Payload bytes that have left or come of one that is open; 0 of another.
  std::uint64_t moved(LinkPeer peer, LinkTicket ticket, bool send);

 private:
  struct Slice {
    std::uint64_t at = 0, bytes = 0;
    std::vector<std::byte> packed;  // nothing: it lies where its elements do
    bool over = false;
  };
  struct Payload {
    LinkTicket ticket{};
    Elements elements;
    std::uint64_t bytes = 0;
    std::uint64_t wanted = 0;    // of a receive; fewer than `bytes`: all come to `all`
    std::vector<std::byte> all;  // in place of `elements`, where it is not empty
    std::uint64_t posted = 0;    // what lies before it has been given to the stripes
    std::uint64_t over = 0;
    bool told = false;         // finished_ has it
    std::uint32_t first = 0;   // number of slices.front()
    std::deque<Slice> slices;  // from the first that is not over on
  };
  // An order of one direction.
  struct Line {
    LinkPeer peer{};
    bool sends = false;
    std::uint32_t order = 0;
    std::uint32_t first = 0;  // number of payloads.front()
    std::deque<Payload> payloads;
  };

  void add(LinkPeer peer, bool sends, std::uint32_t order, Payload&& payload);
  void post(Line& line);
  bool post_slice(Line& line, std::size_t at);
  void ended(const Ticket& ticket, int error);

  Stripes& stripes_;
  StripesPort port_;
  const std::vector<bool> far_;
  // Lines are never erased: tickets of the stripes have their addresses.
  std::map<std::tuple<LinkPeer, bool, std::uint32_t>, Line> lines_;
  std::vector<Finished> finished_;
};

}  // namespace urakata::transport
