// SPDX-License-Identifier: BSD-3-Clause
// What the next poll() of the link is to tell its endpoint, or to go on with.
//
// Thread-safety: by who has the endpoint's lock.
#pragma once

#include <utility>
#include <vector>

#include "p2p/link.hpp"
#include "transport/link/link_readiness.hpp"
#include "transport/link/link_stripes.hpp"

namespace urakata::transport {

class LinkReports {
 public:
  using Events = p2p::Link::Events;
  using LinkPeer = p2p::LinkPeer;
  using LinkTicket = p2p::LinkTicket;

  explicit LinkReports(LinkReadiness& readiness) : readiness_(readiness) {}

  void sent(LinkTicket ticket) {
    sent_.push_back(ticket);
    readiness_.note_more();
  }
  // As sent(), called within poll(), which reports the ticket before it returns.
  void sent_in_poll(LinkTicket ticket) { sent_.push_back(ticket); }
  void lost(LinkPeer peer) {
    lost_.push_back(peer);
    readiness_.note_more();
  }
  // The next poll() is to push payload to this peer.
  void unfinished(LinkPeer peer) {
    unfinished_.push_back(peer);
    readiness_.note_more();
  }
  // What the stripes have ended at once is told by the next poll().
  void note_stripes(const LinkStripes& stripes) {
    if (stripes.any_finished()) readiness_.note_more();
  }
  // Something is on its way out that needs further polls.
  void note_sending() { readiness_.note_sending(true); }

  // Within poll() only: whom to tell.
  void begin_poll(Events& events) { events_ = &events; }
  void end_poll() { events_ = nullptr; }
  Events& events() const { return *events_; }
  std::vector<LinkTicket> take_sent() { return std::exchange(sent_, {}); }
  std::vector<LinkPeer> take_lost() { return std::exchange(lost_, {}); }
  std::vector<LinkPeer> take_unfinished() { return std::exchange(unfinished_, {}); }

 private:
  LinkReadiness& readiness_;
  std::vector<LinkTicket> sent_;
  std::vector<LinkPeer> lost_;
  std::vector<LinkPeer> unfinished_;
  Events* events_ = nullptr;  // of the poll() that runs
};

}  // namespace urakata::transport
