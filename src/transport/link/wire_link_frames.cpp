// SPDX-License-Identifier: BSD-3-Clause
// The frames of the link by transport `wire`.
#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/link/link_frames.hpp"
#include "transport/link/wire_link.hpp"
#include "transport/wire/kept_errno.hpp"

namespace urakata::transport {

namespace {

constexpr unsigned kPiecesAtOnce = 4;   // of one peer's, so that one step does not take long
constexpr std::size_t kFewFrames = 16;  // that wait for a connection: a MiB at most

}  // namespace

// --- out -------------------------------------------------------------------------------------------------------------

// False: the connection is broken. The payload is the caller's again.
bool WireLink::send(LinkPeer to, const Frame& frame, std::span<const std::byte> payload) {
  const KeptErrno kept;
  Peer& other = peer(to);
  if (other.failed || forked()) return false;
  Connection::Outgoing out{.frame = frame, .payload = payload.data()};
  if (!connect(to, other.ordered)) {
    out.keep_payload();
    other.held.push_back(std::move(out));
    sending_.store(true, std::memory_order_relaxed);
    return !other.failed;
  }
  Connection& connection = *other.ordered.open;
  if (connection.send(std::move(out))) return true;
  connection.queue().back().keep_payload();
  sending_.store(true, std::memory_order_relaxed);
  if (connection.broken()) lose(to);
  return !connection.broken();
}

bool WireLink::send_eager(LinkPeer to, const Envelope& envelope, const std::byte* payload, std::uint64_t bytes,
                          LinkTicket ticket) {
  if (ticket == p2p::kNoTicket && send_eager_ahead(to, envelope, payload, bytes)) return true;
  std::uint64_t& credit = peer(to).credit;
  if (credit < bytes + kFrame) return false;
  credit -= bytes + kFrame;
  if (ticket == p2p::kNoTicket) return send(to, frame_of(FrameKind::eager, envelope, bytes), {payload, bytes});
  const std::uint64_t all = sizeof ticket + bytes;
  short_.resize(std::max(short_.size(), all));
  std::memcpy(short_.data(), &ticket, sizeof ticket);
  std::copy_n(payload, bytes, short_.data() + sizeof ticket);
  return send(to, frame_of(FrameKind::eager_answered, envelope, all), std::span(short_).first(all));
}

void WireLink::send_rts(LinkPeer to, const Envelope& envelope, std::uint64_t bytes, LinkTicket ticket,
                        const Elements* source) {
  if (source != nullptr && by_stripes(to, bytes) && send_ahead(to, envelope, bytes, ticket, *source, false)) return;
  const Rendezvous tail{bytes, ticket};
  send(to, frame_of(FrameKind::link_rts, envelope, sizeof tail), bytes_of(tail));
}

void WireLink::send_cts(LinkPeer to, LinkTicket ticket, LinkTicket receive, const Elements& target,
                        std::uint64_t bytes) {
  if (receive_by_stripes(to, ticket, receive, target, bytes)) return;
  const Rendezvous tail{bytes, receive};
  if (bytes != 0) peer(to).landings[receive] = {target, bytes, 0};
  send(to, {.kind = FrameKind::link_cts, .bytes = sizeof tail, .id = static_cast<std::uint64_t>(ticket)},
       bytes_of(tail));
}

void WireLink::send_payload(LinkPeer to, LinkTicket receive, const Elements& source, std::uint64_t bytes,
                            LinkTicket ticket) {
  Peer& other = peer(to);
  if (other.failed || send_by_stripes(to, source, bytes, ticket) || send_short(to, receive, source, bytes, ticket))
    return;
  other.leaving.push_back({receive, source, bytes, 0, ticket});
  sending_.store(true, std::memory_order_relaxed);
  if (other.leaving.size() == 1) push(to);
}

// A payload that may go before others. False: it goes as they do.
bool WireLink::send_short(LinkPeer to, LinkTicket receive, const Elements& source, std::uint64_t bytes,
                          LinkTicket ticket) {
  const ConnectionState& ordered = peer(to).ordered;
  if (bytes > settings_.eager_bytes || !ordered.open || ordered.open->queue().size() > kFewFrames) return false;
  const std::byte* payload = source.address;
  if (source.shape != nullptr) {
    short_.resize(std::max(short_.size(), bytes));
    p2p::pack(source, 0, std::span(short_).first(bytes));
    payload = short_.data();
  }
  const Frame frame{.kind = FrameKind::piece, .bytes = bytes, .id = static_cast<std::uint64_t>(receive)};
  if (!send(to, frame, {payload, bytes})) return true;  // the peer is lost, and this send with it
  sent_.push_back(ticket);
  more_.store(true, std::memory_order_relaxed);
  return true;
}

// Payload, as much as the kernel takes now.
void WireLink::push(LinkPeer to) {
  const KeptErrno kept;
  Peer& other = peer(to);
  if (other.failed || other.leaving.empty() || !connect(to, other.bulk)) return;
  Connection& connection = *other.bulk.open;
  for (unsigned pieces = 0; !other.leaving.empty() && connection.queue().empty();) {
    Leaving& first = other.leaving.front();
    if (first.at == first.bytes) {
      sent_.push_back(first.send);
      more_.store(true, std::memory_order_relaxed);
      other.leaving.pop_front();
      continue;
    }
    const Dispatch next = dispatch(to, other);
    if (next == Dispatch::later) return;
    if (next == Dispatch::spread) continue;
    if (pieces++ == kPiecesAtOnce) {
      unfinished_.push_back(to);
      more_.store(true, std::memory_order_relaxed);
      return;
    }
    const std::uint64_t bytes = std::min(kPiece, first.bytes - first.at);
    const std::byte* payload = first.source.address + first.at;
    if (first.source.shape != nullptr) {
      other.packed.resize(std::max(other.packed.size(), bytes));
      p2p::pack(first.source, first.at, std::span(other.packed).first(bytes));
      payload = other.packed.data();
    }
    first.at += bytes;
    connection.send(
        {.frame = {.kind = FrameKind::piece, .bytes = bytes, .id = static_cast<std::uint64_t>(first.receive)},
         .payload = payload});
    if (connection.broken()) return lose(to);
  }
}

// Of a send only the first payload has begun, and nothing else waits for `bulk`.
std::uint64_t WireLink::moved(LinkPeer rank, LinkTicket ticket, bool send) const {
  const auto found = peers_.find(rank);
  if (found == peers_.end()) return 0;
  if (stripes_) {
    if (const std::uint64_t bytes = stripes_->moved(rank, ticket, send); bytes != 0) return bytes;
  }
  const Peer& other = found->second;
  if (send) {
    const bool begun = !other.leaving.empty() && other.leaving.front().send == ticket;
    return begun && other.bulk.open ? other.leaving.front().at - other.bulk.open->left_to_send() : 0;
  }
  const auto landing = other.landings.find(ticket);
  if (landing == other.landings.end()) return 0;
  std::uint64_t come = landing->second.at;
  for (const ConnectionState* state : {&other.ordered, &other.bulk}) {
    if (state->open) come += state->open->come_of(FrameKind::piece, static_cast<std::uint64_t>(ticket));
  }
  return come;
}

void WireLink::consumed(LinkPeer from, std::uint64_t bytes) {
  std::uint64_t& owed = peer(from).owed;
  owed += bytes + kFrame;
  if (owed >= settings_.credit / 4) send(from, {.kind = FrameKind::credit, .bytes = std::exchange(owed, 0)}, {});
}

// --- in --------------------------------------------------------------------------------------------------------------

std::byte* WireLink::place(Connection& from, const Frame& frame) {
  if (!from.open) return nullptr;
  Peer& other = peer(LinkPeer{from.rank});
  const bool ordered = &from == other.ordered.open.get();
  ConnectionState& state = ordered ? other.ordered : other.bulk;
  bool known = false;
  switch (frame.kind) {
    case FrameKind::eager:
      known = ordered && frame.bytes <= settings_.eager_bytes;
      break;
    case FrameKind::eager_answered:
      known = ordered && frame.bytes >= sizeof(LinkTicket) && frame.bytes - sizeof(LinkTicket) <= settings_.eager_bytes;
      break;
    case FrameKind::link_rts:
    case FrameKind::link_cts:
      known = ordered && frame.bytes == sizeof(Rendezvous);
      break;
    case FrameKind::link_rts_ahead:
      known = ordered && frame.bytes == sizeof(RendezvousAhead);
      break;
    case FrameKind::piece: {
      const auto found = other.landings.find(LinkTicket{frame.id});
      if (found == other.landings.end()) return nullptr;
      const Landing& landing = found->second;
      known = ordered ? frame.bytes == landing.bytes && landing.at == 0 && frame.bytes <= settings_.eager_bytes
                      : frame.bytes <= std::min(kPiece, landing.bytes - landing.at);
      if (known && landing.target.shape == nullptr) return landing.target.address + landing.at;
      break;
    }
    default:
      break;
  }
  if (!known) return nullptr;
  state.room.resize(std::max(state.room.size(), frame.bytes));
  return state.room.data();
}

bool WireLink::arrived(Connection& from, const Frame& frame) {
  if (frame.kind == FrameKind::hello_ack) return !from.open && wire_.named_secret(frame) && answered(from);
  if (!from.open) return false;
  const LinkPeer rank{from.rank};
  Peer& other = peer(rank);
  Rendezvous tail{};
  switch (frame.kind) {
    case FrameKind::eager:
      events_->eager(rank, envelope_of(frame), other.ordered.room.data(), frame.bytes, p2p::kNoTicket);
      return true;
    case FrameKind::eager_answered:
      if (frame.bytes < sizeof tail.ticket) return false;
      std::memcpy(&tail.ticket, other.ordered.room.data(), sizeof tail.ticket);
      events_->eager(rank, envelope_of(frame), other.ordered.room.data() + sizeof tail.ticket,
                     frame.bytes - sizeof tail.ticket, tail.ticket);
      return true;
    case FrameKind::link_rts:
      if (frame.bytes != sizeof tail) return false;
      std::memcpy(&tail, other.ordered.room.data(), sizeof tail);
      events_->rts(rank, envelope_of(frame), tail.bytes, tail.ticket);
      return true;
    case FrameKind::link_rts_ahead:
      return rts_ahead_arrived(rank, frame);
    case FrameKind::link_spread:
      return &from == other.ordered.open.get() && spread_arrived(rank, frame);
    case FrameKind::link_cts:
      return cts_arrived(rank, frame);
    case FrameKind::credit:
      other.credit += frame.bytes;
      return true;
    case FrameKind::piece:
      return piece_arrived(other, &from == other.ordered.open.get() ? other.ordered : other.bulk, frame);
    default:
      return false;
  }
}

bool WireLink::piece_arrived(Peer& from, const ConnectionState& by, const Frame& frame) {
  const auto found = from.landings.find(LinkTicket{frame.id});
  if (found == from.landings.end() || frame.bytes == 0) return false;
  Landing& landing = found->second;
  if (landing.target.shape != nullptr) {
    p2p::unpack(std::span(by.room).first(frame.bytes), landing.target, landing.at);
  }
  landing.at += frame.bytes;
  if (landing.at == landing.bytes) {
    from.landings.erase(found);
    events_->received(LinkTicket{frame.id});
  }
  return true;
}

}  // namespace urakata::transport
