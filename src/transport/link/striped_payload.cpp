// SPDX-License-Identifier: BSD-3-Clause
#include "transport/link/striped_payload.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/link/link_frames.hpp"
#include "transport/link/link_sizes.hpp"
#include "transport/stripes/stripe_sizes.hpp"

namespace urakata::transport {

bool StripedPayload::carries(LinkPeer peer, std::uint64_t bytes) const {
  return stripes_ != nullptr && bytes > settings_.eager_bytes && stripes_->carries(peer);
}

// --- out -------------------------------------------------------------------------------------------------------------

bool StripedPayload::send_ahead(LinkPeer to, const Envelope& envelope, std::uint64_t bytes, LinkTicket ticket,
                                const Elements& source, bool eager) {
  LinkPeerState& other = peers_.at(to);
  if (bytes > LinkStripes::kSlice || other.failed || forks_.forked()) return false;
  const std::uint64_t counted = std::min(bytes, StripeSizes::kPush);
  std::uint64_t under_way = 0;
  for (const auto& [send, ahead] : other.ahead.out) under_way += ahead.answered ? 0 : ahead.bytes;
  const auto taken = [&other](std::uint32_t order) {
    return std::ranges::any_of(
        other.ahead.out, [order](const auto& entry) { return !entry.second.answered && entry.second.order == order; });
  };
  std::uint32_t order = 1;
  while (order < LinkStripes::kOrders && taken(order)) ++order;
  if (order == LinkStripes::kOrders || under_way + counted > LinkSizes::kAhead) return false;
  const RendezvousAhead tail{.of = {bytes, ticket}, .order = order};
  if (!connections_.send(to, frame_of(FrameKind::link_rts_ahead, envelope, sizeof tail), bytes_of(tail))) return true;
  other.ahead.out[ticket] = {.order = order, .bytes = counted, .eager = eager};
  stripes_->send(to, order, source, bytes, ticket, eager);
  reports_.note_sending();
  reports_.note_stripes(*stripes_);
  return true;
}

bool StripedPayload::send_eager(LinkPeer to, const Envelope& envelope, const std::byte* payload, std::uint64_t bytes) {
  if (stripes_ == nullptr || bytes <= StripeSizes::kFirstFlight || !stripes_->carries(to)) return false;
  // Tickets of requests are even, since they are addresses.
  const LinkTicket ticket{2 * eager_sent_ + 1};
  const Elements source{const_cast<std::byte*>(payload), bytes, nullptr};  // only read
  if (!send_ahead(to, envelope, bytes, ticket, source, true)) return false;
  ++eager_sent_;
  return true;
}

bool StripedPayload::cts_arrived(LinkPeer rank, const Frame& frame) {
  LinkPeerState& other = peers_.at(rank);
  Rendezvous tail{};
  if (frame.bytes != sizeof tail) return false;
  std::memcpy(&tail, other.ordered.room.data(), sizeof tail);
  const LinkTicket send{frame.id};
  const auto found = other.ahead.out.find(send);
  if (found != other.ahead.out.end()) {
    AheadOut& ahead = found->second;
    if (std::exchange(ahead.answered, true)) return false;
    if (ahead.eager) {
      if (ahead.over) other.ahead.out.erase(found);
      return true;
    }
    // Its elements stay until the stripes have done with them.
    ahead.unwanted = tail.bytes == 0;
    ahead.receive = tail.ticket;
    if (ahead.unwanted && !ahead.over) return true;
    if (ahead.unwanted) other.ahead.out.erase(found);
  }
  return reports_.events().cts(rank, send, tail.ticket, tail.bytes);
}

bool StripedPayload::send(LinkPeer to, const Elements& source, std::uint64_t bytes, LinkTicket ticket) {
  LinkPeerState& other = peers_.at(to);
  if (const auto found = other.ahead.out.find(ticket); found != other.ahead.out.end()) {
    if (!found->second.over) return true;
    other.ahead.out.erase(found);
    reports_.sent(ticket);
    return true;
  }
  if (!carries(to, bytes)) return false;
  stripes_->send(to, 0, source, bytes, ticket);
  reports_.note_sending();
  reports_.note_stripes(*stripes_);
  return true;
}

void StripedPayload::sent(LinkPeer to, LinkTicket ticket) {
  LinkPeerState& other = peers_.at(to);
  const auto found = other.ahead.out.find(ticket);
  if (found == other.ahead.out.end()) {
    reports_.sent_in_poll(ticket);
    if (!stripes_->carries(to)) spread_.ended(to);
    return;
  }
  found->second.over = true;
  if (!found->second.answered) return;
  const AheadOut ahead = found->second;
  other.ahead.out.erase(found);
  if (ahead.eager) return;
  if (!ahead.unwanted) {
    reports_.sent_in_poll(ticket);
  } else if (!reports_.events().cts(to, ticket, ahead.receive, 0)) {
    connections_.lose(to);
  }
}

// --- in --------------------------------------------------------------------------------------------------------------

bool StripedPayload::rts_arrived(LinkPeer rank, const Frame& frame) {
  LinkPeerState& other = peers_.at(rank);
  RendezvousAhead tail{};
  if (frame.bytes != sizeof tail) return false;
  std::memcpy(&tail, other.ordered.room.data(), sizeof tail);
  const bool known = stripes_ != nullptr && stripes_->carries(rank) && tail.of.bytes != 0 &&
                     tail.of.bytes <= LinkStripes::kSlice && tail.order != 0 && tail.order < LinkStripes::kOrders;
  const auto has_order = [&tail](const auto& entry) { return entry.second.order == tail.order; };
  const auto order = static_cast<std::uint32_t>(tail.order);
  if (!known || other.ahead.drains.contains(order) || std::ranges::any_of(other.ahead.here, has_order) ||
      !other.ahead.here.try_emplace(tail.of.ticket, AheadHere{order, tail.of.bytes}).second) {
    return false;
  }
  reports_.events().rts(rank, envelope_of(frame), tail.of.bytes, tail.of.ticket);
  return true;
}

bool StripedPayload::receive(LinkPeer from, LinkTicket ticket, LinkTicket receive, const Elements& target,
                             std::uint64_t bytes) {
  LinkPeerState& other = peers_.at(from);
  std::uint32_t order = 0;
  std::uint64_t coming = bytes;
  if (const auto found = other.ahead.here.find(ticket); found != other.ahead.here.end()) {
    order = found->second.order;
    coming = found->second.bytes;
    other.ahead.here.erase(found);
  } else if (!carries(from, bytes)) {
    return false;
  }
  if (bytes == 0) {
    other.ahead.drains[order] = ticket;
    receive = p2p::kNoTicket;
  } else {
    const Rendezvous tail{bytes, receive};
    connections_.send(from,
                      {.kind = FrameKind::link_cts, .bytes = sizeof tail, .id = static_cast<std::uint64_t>(ticket)},
                      bytes_of(tail));
  }
  if (!other.failed) stripes_->receive(from, order, target, bytes, coming, receive);
  reports_.note_stripes(*stripes_);
  return true;
}

// --- progress --------------------------------------------------------------------------------------------------------

void StripedPayload::poll() {
  stripes_->poll();
  spread_.note_all_carried();
  for (const LinkStripes::Finished& each : stripes_->finished()) {
    // What has come by stripes before the peer was lost is still taken.
    const bool whole = !each.sent && !each.failed && each.ticket != p2p::kNoTicket;
    if (peers_.at(each.peer).failed && !whole) continue;
    if (each.failed) {
      connections_.lose(each.peer);
    } else if (each.sent) {
      sent(each.peer, each.ticket);
    } else if (each.ticket != p2p::kNoTicket) {
      reports_.events().received(each.ticket);
    } else if (const auto drained = peers_.at(each.peer).ahead.drains.extract(each.order); !drained.empty()) {
      const Rendezvous tail{0, p2p::kNoTicket};
      connections_.send(
          each.peer,
          {.kind = FrameKind::link_cts, .bytes = sizeof tail, .id = static_cast<std::uint64_t>(drained.mapped())},
          bytes_of(tail));
    }
  }
}

}  // namespace urakata::transport
