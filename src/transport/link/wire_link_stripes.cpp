// SPDX-License-Identifier: BSD-3-Clause
// The link's payload to ranks at other sites.
#include <sys/epoll.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/system_error.hpp"
#include "transport/link/link_frames.hpp"
#include "transport/link/wire_link.hpp"

namespace urakata::transport {

Status WireLink::carry_by(std::unique_ptr<LinkStripes> stripes) {
  for (const int descriptor : stripes->descriptors()) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = stripes.get();
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
      return system_error("cannot watch the connections between sites");
    }
  }
  stripes_ = std::move(stripes);
  return Nothing{};
}

bool WireLink::by_stripes(LinkPeer peer, std::uint64_t bytes) const {
  return stripes_ && bytes > settings_.eager_bytes && stripes_->carries(peer);
}

// --- out -------------------------------------------------------------------------------------------------------------

// False: it does not go ahead; nothing was done.
bool WireLink::send_ahead(LinkPeer to, const Envelope& envelope, std::uint64_t bytes, LinkTicket ticket,
                          const Elements& source, bool eager) {
  Peer& other = peer(to);
  if (bytes > LinkStripes::kSlice || other.failed || forked()) return false;
  const std::uint64_t counted = std::min(bytes, Stripes::kPush);
  std::uint64_t under_way = 0;
  for (const auto& [send, ahead] : other.ahead) under_way += ahead.answered ? 0 : ahead.bytes;
  const auto taken = [&other](std::uint32_t order) {
    return std::ranges::any_of(
        other.ahead, [order](const auto& entry) { return !entry.second.answered && entry.second.order == order; });
  };
  std::uint32_t order = 1;
  while (order < LinkStripes::kOrders && taken(order)) ++order;
  if (order == LinkStripes::kOrders || under_way + counted > kAhead) return false;
  const RendezvousAhead tail{.of = {bytes, ticket}, .order = order};
  if (!send(to, frame_of(FrameKind::link_rts_ahead, envelope, sizeof tail), bytes_of(tail))) return true;
  other.ahead[ticket] = {.order = order, .bytes = counted, .eager = eager};
  stripes_->send(to, order, source, bytes, ticket, eager);
  sending_.store(true, std::memory_order_relaxed);
  note_stripes();
  return true;
}

bool WireLink::send_eager_ahead(LinkPeer to, const Envelope& envelope, const std::byte* payload, std::uint64_t bytes) {
  if (!stripes_ || bytes <= Stripes::kFirstFlight || !stripes_->carries(to)) return false;
  // Tickets of requests are even, since they are addresses.
  const LinkTicket ticket{2 * eager_ahead_ + 1};
  const Elements source{const_cast<std::byte*>(payload), bytes, nullptr};  // only read
  if (!send_ahead(to, envelope, bytes, ticket, source, true)) return false;
  ++eager_ahead_;
  return true;
}

bool WireLink::cts_arrived(LinkPeer rank, const Frame& frame) {
  Peer& other = peer(rank);
  Rendezvous tail{};
  if (frame.bytes != sizeof tail) return false;
  std::memcpy(&tail, other.ordered.room.data(), sizeof tail);
  const LinkTicket send{frame.id};
  const auto found = other.ahead.find(send);
  if (found != other.ahead.end()) {
    Ahead& ahead = found->second;
    if (std::exchange(ahead.answered, true)) return false;
    if (ahead.eager) {
      if (ahead.over) other.ahead.erase(found);
      return true;
    }
    // Its elements stay until the stripes have done with them.
    ahead.unwanted = tail.bytes == 0;
    ahead.receive = tail.ticket;
    if (ahead.unwanted && !ahead.over) return true;
    if (ahead.unwanted) other.ahead.erase(found);
  }
  return events_->cts(rank, send, tail.ticket, tail.bytes);
}

bool WireLink::send_by_stripes(LinkPeer to, const Elements& source, std::uint64_t bytes, LinkTicket ticket) {
  Peer& other = peer(to);
  if (const auto found = other.ahead.find(ticket); found != other.ahead.end()) {
    if (!found->second.over) return true;
    other.ahead.erase(found);
    sent_.push_back(ticket);
    more_.store(true, std::memory_order_relaxed);
    return true;
  }
  if (!by_stripes(to, bytes)) return false;
  stripes_->send(to, 0, source, bytes, ticket);
  sending_.store(true, std::memory_order_relaxed);
  note_stripes();
  return true;
}

// The stripes need its elements no more.
void WireLink::sent_by_stripes(LinkPeer to, LinkTicket ticket) {
  Peer& other = peer(to);
  const auto found = other.ahead.find(ticket);
  if (found == other.ahead.end()) {
    sent_.push_back(ticket);
    if (!stripes_->carries(to)) spread_ended(to);
    return;
  }
  found->second.over = true;
  if (!found->second.answered) return;
  const Ahead ahead = found->second;
  other.ahead.erase(found);
  if (ahead.eager) return;
  if (!ahead.unwanted) {
    sent_.push_back(ticket);
  } else if (!events_->cts(to, ticket, ahead.receive, 0)) {
    lose(to);
  }
}

// --- in --------------------------------------------------------------------------------------------------------------

bool WireLink::rts_ahead_arrived(LinkPeer rank, const Frame& frame) {
  Peer& other = peer(rank);
  RendezvousAhead tail{};
  if (frame.bytes != sizeof tail) return false;
  std::memcpy(&tail, other.ordered.room.data(), sizeof tail);
  const bool known = stripes_ && stripes_->carries(rank) && tail.of.bytes != 0 &&
                     tail.of.bytes <= LinkStripes::kSlice && tail.order != 0 && tail.order < LinkStripes::kOrders;
  const auto has_order = [&tail](const auto& entry) { return entry.second.order == tail.order; };
  const auto order = static_cast<std::uint32_t>(tail.order);
  if (!known || other.drains.contains(order) || std::ranges::any_of(other.ahead_here, has_order) ||
      !other.ahead_here.try_emplace(tail.of.ticket, AheadHere{order, tail.of.bytes}).second) {
    return false;
  }
  events_->rts(rank, envelope_of(frame), tail.of.bytes, tail.of.ticket);
  return true;
}

bool WireLink::receive_by_stripes(LinkPeer from, LinkTicket ticket, LinkTicket receive, const Elements& target,
                                  std::uint64_t bytes) {
  Peer& other = peer(from);
  std::uint32_t order = 0;
  std::uint64_t coming = bytes;
  if (const auto found = other.ahead_here.find(ticket); found != other.ahead_here.end()) {
    order = found->second.order;
    coming = found->second.bytes;
    other.ahead_here.erase(found);
  } else if (!by_stripes(from, bytes)) {
    return false;
  }
  if (bytes == 0) {
    other.drains[order] = ticket;
    receive = p2p::kNoTicket;
  } else {
    const Rendezvous tail{bytes, receive};
    send(from, {.kind = FrameKind::link_cts, .bytes = sizeof tail, .id = static_cast<std::uint64_t>(ticket)},
         bytes_of(tail));
  }
  if (!other.failed) stripes_->receive(from, order, target, bytes, coming, receive);
  note_stripes();
  return true;
}

// --- progress --------------------------------------------------------------------------------------------------------

// What the stripes have ended at once is told by the next poll().
void WireLink::note_stripes() {
  if (stripes_->any_finished()) more_.store(true, std::memory_order_relaxed);
}

void WireLink::poll_stripes() {
  stripes_->poll();
  if (spreading_ != 0) note_spreading();
  for (const LinkStripes::Finished& each : stripes_->finished()) {
    // What has come by stripes before the peer was lost is still taken.
    const bool whole = !each.sent && !each.failed && each.ticket != p2p::kNoTicket;
    if (peer(each.peer).failed && !whole) continue;
    if (each.failed) {
      lose(each.peer);
    } else if (each.sent) {
      sent_by_stripes(each.peer, each.ticket);
    } else if (each.ticket != p2p::kNoTicket) {
      events_->received(each.ticket);
    } else if (const auto drained = peer(each.peer).drains.extract(each.order); !drained.empty()) {
      const Rendezvous tail{0, p2p::kNoTicket};
      send(each.peer,
           {.kind = FrameKind::link_cts, .bytes = sizeof tail, .id = static_cast<std::uint64_t>(drained.mapped())},
           bytes_of(tail));
    }
  }
}

}  // namespace urakata::transport
