// SPDX-License-Identifier: BSD-3-Clause
#include "transport/link/link_sender.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/link/link_frames.hpp"
#include "transport/link/link_sizes.hpp"
#include "transport/wire/kept_errno.hpp"

namespace urakata::transport {

namespace {

constexpr unsigned kPiecesAtOnce = 4;   // of one peer's, so that one step does not take long
constexpr std::size_t kFewFrames = 16;  // that wait for a connection: a MiB at most

}  // namespace

bool LinkSender::send_eager(LinkPeer to, const Envelope& envelope, const std::byte* payload, std::uint64_t bytes,
                            LinkTicket ticket) {
  if (ticket == p2p::kNoTicket && striped_.send_eager(to, envelope, payload, bytes)) return true;
  std::uint64_t& credit = peers_.at(to).credit;
  if (credit < bytes + LinkSizes::kFrame) return false;
  credit -= bytes + LinkSizes::kFrame;
  if (ticket == p2p::kNoTicket) {
    return connections_.send(to, frame_of(FrameKind::eager, envelope, bytes), {payload, bytes});
  }
  const std::uint64_t all = sizeof ticket + bytes;
  short_.resize(std::max(short_.size(), all));
  std::memcpy(short_.data(), &ticket, sizeof ticket);
  std::copy_n(payload, bytes, short_.data() + sizeof ticket);
  return connections_.send(to, frame_of(FrameKind::eager_answered, envelope, all), std::span(short_).first(all));
}

void LinkSender::send_rts(LinkPeer to, const Envelope& envelope, std::uint64_t bytes, LinkTicket ticket,
                          const Elements* source) {
  if (source != nullptr && striped_.carries(to, bytes) &&
      striped_.send_ahead(to, envelope, bytes, ticket, *source, false)) {
    return;
  }
  const Rendezvous tail{bytes, ticket};
  connections_.send(to, frame_of(FrameKind::link_rts, envelope, sizeof tail), bytes_of(tail));
}

void LinkSender::send_cts(LinkPeer to, LinkTicket ticket, LinkTicket receive, const Elements& target,
                          std::uint64_t bytes) {
  if (striped_.receive(to, ticket, receive, target, bytes)) return;
  const Rendezvous tail{bytes, receive};
  if (bytes != 0) peers_.at(to).landings[receive] = {target, bytes, 0};
  connections_.send(to, {.kind = FrameKind::link_cts, .bytes = sizeof tail, .id = static_cast<std::uint64_t>(ticket)},
                    bytes_of(tail));
}

void LinkSender::send_payload(LinkPeer to, LinkTicket receive, const Elements& source, std::uint64_t bytes,
                              LinkTicket ticket) {
  LinkPeerState& other = peers_.at(to);
  if (other.failed || striped_.send(to, source, bytes, ticket) || send_short(to, receive, source, bytes, ticket)) {
    return;
  }
  other.leaving.push_back({receive, source, bytes, 0, ticket});
  reports_.note_sending();
  if (other.leaving.size() == 1) push(to);
}

// Sends a short payload by the ordered connection. False: it is to go by `bulk`; nothing was done.
bool LinkSender::send_short(LinkPeer to, LinkTicket receive, const Elements& source, std::uint64_t bytes,
                            LinkTicket ticket) {
  const ConnectionState& ordered = peers_.at(to).ordered;
  if (bytes > settings_.eager_bytes || !ordered.open || ordered.open->queue().size() > kFewFrames) return false;
  const std::byte* payload = source.address;
  if (source.shape != nullptr) {
    short_.resize(std::max(short_.size(), bytes));
    p2p::pack(source, 0, std::span(short_).first(bytes));
    payload = short_.data();
  }
  const Frame frame{.kind = FrameKind::piece, .bytes = bytes, .id = static_cast<std::uint64_t>(receive)};
  if (!connections_.send(to, frame, {payload, bytes})) return true;  // the peer is lost, and this send with it
  reports_.sent(ticket);
  return true;
}

void LinkSender::push(LinkPeer to) {
  const KeptErrno kept;
  LinkPeerState& other = peers_.at(to);
  if (other.failed || other.leaving.empty() || !connections_.connect(to, other.bulk)) return;
  Connection& connection = *other.bulk.open;
  for (unsigned pieces = 0; !other.leaving.empty() && connection.queue().empty();) {
    Leaving& first = other.leaving.front();
    if (first.at == first.bytes) {
      reports_.sent(first.send);
      other.leaving.pop_front();
      continue;
    }
    const Dispatch next = spread_.dispatch(to, other);
    if (next == Dispatch::later) return;
    if (next == Dispatch::spread) continue;
    if (pieces++ == kPiecesAtOnce) {
      reports_.unfinished(to);
      return;
    }
    const std::uint64_t bytes = std::min(LinkSizes::kPiece, first.bytes - first.at);
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
    if (connection.broken()) return connections_.lose(to);
  }
}

// Of a send only the first payload has begun, and nothing else waits for `bulk`.
std::uint64_t LinkSender::moved(LinkPeer rank, LinkTicket ticket, bool send) const {
  const LinkPeerState* const found = peers_.find(rank);
  if (found == nullptr) return 0;
  if (stripes_ != nullptr) {
    if (const std::uint64_t bytes = stripes_->moved(rank, ticket, send); bytes != 0) return bytes;
  }
  const LinkPeerState& other = *found;
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

void LinkSender::consumed(LinkPeer from, std::uint64_t bytes) {
  std::uint64_t& owed = peers_.at(from).owed;
  owed += bytes + LinkSizes::kFrame;
  if (owed < settings_.credit / 4) return;
  connections_.send(from, {.kind = FrameKind::credit, .bytes = std::exchange(owed, 0)}, {});
}

}  // namespace urakata::transport
