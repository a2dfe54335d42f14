// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/stripe_frames.hpp"

#include <sys/epoll.h>

#include <algorithm>

namespace urakata::transport {

void StripeFrames::serve(Stripe& stripe, std::uint32_t events) {
  StripePeer& other = stripe.peer;
  Connection& connection = *stripe.connection;
  if (connection.broken()) return;
  if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0 && connection.flush(gone_) && stripe.out && stripe.given.busy &&
      connection.queue().empty()) {
    sender_.flushed(stripe);
  }
  if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 && !connection.broken()) connection.receive(*this);
  if (connection.broken() && pool_.find(&connection) != nullptr) {  // else it has been lost on the way
    pool_.lose(stripe);
    sender_.push(other);
  }
  counts_.note_awaited(other);
}

std::byte* StripeFrames::place(Connection& from, const Frame& frame) {
  Stripe* const stripe = pool_.find(&from);
  return stripe == nullptr ? nullptr : receiver_.place(*stripe, frame);
}

bool StripeFrames::arrived(Connection& from, const Frame& frame) {
  Stripe* const found = pool_.find(&from);
  if (found == nullptr) return false;
  Stripe& stripe = *found;
  StripePeer& other = stripe.peer;
  switch (frame.kind) {
    case FrameKind::hello_ack:
      if (!stripe.out || from.open || frame.tag != other.rank || !wire_.named_secret(frame)) return false;
      from.open = true;
      other.silence.down_since_ns.reset();
      other.traffic.stripes = std::max(other.traffic.stripes, static_cast<std::uint32_t>(other.alive(true, true)));
      sender_.push(other);
      return !from.broken();
    case FrameKind::stripe_refused:
      if (stripe.out && !from.open && frame.tag == other.rank && wire_.named_secret(frame)) pool_.fail(other, true);
      return false;
    case FrameKind::stripe_ack:
      if (!stripe.out || !from.open) return false;
      sender_.acknowledged(stripe, frame.bytes);
      return true;
    case FrameKind::clear_to_send:
      if (!stripe.out || !from.open) return false;
      other.outgoing.clear_to_send(frame.tag, frame.id);
      sender_.push(other);
      return true;
    case FrameKind::notice:
      if (!from.open) return false;
      failures_.add({.from = other.rank, .origin = static_cast<std::int32_t>(frame.id), .context = frame.tag});
      return true;
    case FrameKind::stripe_piece:
    case FrameKind::stripe_end:
      // For a piece without bytes nobody has asked for room.
      if (frame.bytes == 0 && receiver_.place(stripe, frame) == nullptr) return false;
      return receiver_.landed(stripe, frame);
    default:
      return false;
  }
}

}  // namespace urakata::transport
