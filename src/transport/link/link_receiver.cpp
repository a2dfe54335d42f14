// SPDX-License-Identifier: BSD-3-Clause
#include "transport/link/link_receiver.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cstring>

#include "transport/link/link_frames.hpp"
#include "transport/link/link_sizes.hpp"

namespace urakata::transport {

void LinkReceiver::serve(Connection& connection, std::uint32_t events) {
  if (connection.broken()) return;
  const LinkPeer rank{connection.rank};
  if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) {
    if (connection.flush(gone_) && &connection == peers_.at(rank).bulk.open.get()) sender_.push(rank);
  }
  if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 && !connection.broken()) connection.receive(*this);
  if (connection.broken() && !wire_.renew(connection)) connections_.lose(rank);
}

std::byte* LinkReceiver::place(Connection& from, const Frame& frame) {
  if (!from.open) return nullptr;
  LinkPeerState& other = peers_.at(LinkPeer{from.rank});
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
                      : frame.bytes <= std::min(LinkSizes::kPiece, landing.bytes - landing.at);
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

bool LinkReceiver::arrived(Connection& from, const Frame& frame) {
  if (frame.kind == FrameKind::hello_ack) return !from.open && wire_.named_secret(frame) && answered(from);
  if (!from.open) return false;
  const LinkPeer rank{from.rank};
  LinkPeerState& other = peers_.at(rank);
  LinkReports::Events& events = reports_.events();
  Rendezvous tail{};
  switch (frame.kind) {
    case FrameKind::eager:
      events.eager(rank, envelope_of(frame), other.ordered.room.data(), frame.bytes, p2p::kNoTicket);
      return true;
    case FrameKind::eager_answered:
      if (frame.bytes < sizeof tail.ticket) return false;
      std::memcpy(&tail.ticket, other.ordered.room.data(), sizeof tail.ticket);
      events.eager(rank, envelope_of(frame), other.ordered.room.data() + sizeof tail.ticket,
                   frame.bytes - sizeof tail.ticket, tail.ticket);
      return true;
    case FrameKind::link_rts:
      if (frame.bytes != sizeof tail) return false;
      std::memcpy(&tail, other.ordered.room.data(), sizeof tail);
      events.rts(rank, envelope_of(frame), tail.bytes, tail.ticket);
      return true;
    case FrameKind::link_rts_ahead:
      return striped_.rts_arrived(rank, frame);
    case FrameKind::link_spread:
      return &from == other.ordered.open.get() && spread_.arrived(rank, frame);
    case FrameKind::link_cts:
      return striped_.cts_arrived(rank, frame);
    case FrameKind::credit:
      other.credit += frame.bytes;
      return true;
    case FrameKind::piece:
      return piece_arrived(other, &from == other.ordered.open.get() ? other.ordered : other.bulk, frame);
    default:
      return false;
  }
}

// The peer has answered on a connection that this process made. False: this process had not asked on `from`.
bool LinkReceiver::answered(Connection& from) {
  const LinkPeer rank{from.rank};
  const ConnectionState* const state = connections_.answered(from);
  if (state == &peers_.at(rank).bulk) sender_.push(rank);
  return state != nullptr;
}

bool LinkReceiver::piece_arrived(LinkPeerState& from, const ConnectionState& by, const Frame& frame) {
  const auto found = from.landings.find(LinkTicket{frame.id});
  if (found == from.landings.end() || frame.bytes == 0) return false;
  Landing& landing = found->second;
  if (landing.target.shape != nullptr) {
    p2p::unpack(std::span(by.room).first(frame.bytes), landing.target, landing.at);
  }
  landing.at += frame.bytes;
  if (landing.at == landing.bytes) {
    from.landings.erase(found);
    reports_.events().received(LinkTicket{frame.id});
  }
  return true;
}

}  // namespace urakata::transport
