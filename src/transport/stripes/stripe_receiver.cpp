// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/stripe_receiver.hpp"

#include <cstring>
#include <utility>

#include "transport/group.hpp"

namespace urakata::transport {

bool StripeReceiver::is_over(std::int32_t tag) const {
  return !over_.empty() && over_.contains(tag >> Group::kContextShift);
}

bool StripeReceiver::recv(StripePeer& from, const Message& message, const Waiter& waiter, int* error) {
  if (from.failed) {
    *error = failure_;
    return true;
  }
  from.silence.note_wanted(settings_.now);
  const MessageKey key{message.tag, from.incoming.posted[message.tag]++};
  IncomingMessage& incoming = from.incoming.open[key];
  incoming.post(waiter, message);
  if (incoming.come >= message.bytes && !incoming.pieces.empty()) {
    *error = incoming.conclude(failure_);
    from.incoming.open.erase(key);
    return true;
  }
  for (Stripe& stripe : from.stripes) {
    if (!stripe.out && !stripe.connection->broken() && !incoming.pieces.empty()) {
      tell_clear_to_send(stripe, incoming, key);
      incoming.told = true;
      break;
    }
  }
  counts_.note_awaited(from);
  return false;
}

void StripeReceiver::tell_clear_to_send(Stripe& stripe, const IncomingMessage& incoming, const MessageKey& key) {
  if (incoming.message.bytes <= StripeSizes::kPush) return;
  stripe.connection->send(
      {.frame = {.kind = FrameKind::clear_to_send, .tag = key.tag, .id = key.number & StripeSizes::kNumberMask}});
}

void StripeReceiver::tell_all_clear_to_send(StripePeer& from) {
  for (auto& [key, incoming] : from.incoming.open) {
    if (!incoming.posted() || incoming.pieces.empty() || *incoming.pieces.rbegin() >= StripeSizes::kPush) continue;
    for (Stripe& stripe : from.stripes) {
      const bool takes = !stripe.connection->broken() && stripe.connection->queue().empty();
      if (!stripe.out && takes) tell_clear_to_send(stripe, incoming, key);
    }
  }
}

// --- pieces ----------------------------------------------------------------------------------------------------------

std::byte* StripeReceiver::place(Stripe& stripe, const Frame& frame) {
  using Room = ArrivingPiece::Room;
  const bool is_piece = frame.kind == FrameKind::stripe_piece || frame.kind == FrameKind::stripe_end;
  if (!is_piece || stripe.out || !stripe.connection->open || frame.bytes > 2 * StripeSizes::kMostPiece) return nullptr;
  IncomingMessages& sender = stripe.peer.incoming;
  ArrivingPiece& piece = stripe.arriving;
  piece.key = sender.key_of(frame.tag, frame.id);
  piece.offset = frame.id >> StripeSizes::kNumberBits;
  piece.under_way = true;
  piece.room = Room::in_place;
  const auto found = sender.open.find(piece.key);
  const bool unknown = found == sender.open.end();
  if (stripe.peer.failed || is_over(frame.tag) || (unknown && piece.key.number < sender.posted[frame.tag])) {
    return piece.spill_for(Room::thrown_away, frame.bytes);
  }
  IncomingMessage& incoming = unknown ? sender.open[piece.key] : found->second;
  // It has come already.
  if (incoming.pieces.contains(piece.offset)) return piece.spill_for(Room::thrown_away, frame.bytes);
  // Of twins, which stripes of which one was given up may bring at a time, each has a place of its own: either may end
  // here.
  if (!incoming.posted()) return piece.spill_for(Room::aside, frame.bytes);
  if (piece.offset + frame.bytes > incoming.message.bytes) return piece.spill_for(Room::thrown_away, frame.bytes);
  static std::byte nothing{};
  return frame.bytes != 0 ? incoming.room() + piece.offset : &nothing;
}

bool StripeReceiver::landed(Stripe& stripe, const Frame& frame) {
  using Room = ArrivingPiece::Room;
  StripePeer& from = stripe.peer;
  ArrivingPiece& piece = stripe.arriving;
  if (stripe.out || !piece.under_way) return false;
  piece.under_way = false;
  if (stripe.acknowledgements.come++ == stripe.acknowledgements.told) pool_.owe_acknowledgement(stripe);
  const auto found = from.incoming.open.find(piece.key);
  if (found == from.incoming.open.end()) return true;
  IncomingMessage& incoming = found->second;
  if (piece.room == Room::thrown_away) {
    // One that does not fit its receive.
    if (!incoming.posted() || incoming.pieces.contains(piece.offset) ||
        piece.offset + frame.bytes <= incoming.message.bytes) {
      return true;
    }
  }
  incoming.note(piece.offset, frame.bytes, frame.kind == FrameKind::stripe_end);
  for (Stripe& other : from.stripes) {
    const bool twin = other.arriving.key == piece.key && other.arriving.offset == piece.offset;
    if (&other != &stripe && !other.out && twin) other.divert();
  }
  if (!incoming.posted()) {
    piece.spill.resize(frame.bytes);
    incoming.unexpected[piece.offset] = std::exchange(piece.spill, {});
    return true;
  }
  if (piece.room == Room::aside && piece.offset + frame.bytes <= incoming.message.bytes && frame.bytes != 0) {
    std::memcpy(incoming.room() + piece.offset, piece.spill.data(), frame.bytes);
  }
  if (!std::exchange(incoming.told, true)) tell_clear_to_send(stripe, incoming, piece.key);
  if (incoming.come < incoming.message.bytes) {
    incoming.waiter.ticket.tell(incoming.come);
    return true;
  }
  if (incoming.too_long()) divert_all(from, found->first);  // other pieces that come in
  incoming.waiter.complete(incoming.conclude(failure_));
  from.incoming.open.erase(found);
  return true;
}

// What comes in of a message goes to memory of ours from now on.
void StripeReceiver::divert_all(StripePeer& from, const MessageKey& key) {
  for (Stripe& stripe : from.stripes) stripe.divert(key);
}

// --- what has failed -------------------------------------------------------------------------------------------------

std::size_t StripeReceiver::cancel(StripePeer& from, const void* instance) {
  std::size_t taken = 0;
  for (auto it = from.incoming.open.begin(); it != from.incoming.open.end();) {
    if (!it->second.posted() || it->second.waiter.ticket.instance != instance) {
      ++it;
      continue;
    }
    ++taken;
    divert_all(from, it->first);
    it = from.incoming.open.erase(it);
  }
  counts_.note_awaited(from);
  return taken;
}

void StripeReceiver::discard_over(StripePeer& from) const {
  for (auto it = from.incoming.open.begin(); it != from.incoming.open.end();) {
    if (it->second.posted() || !is_over(it->first.tag)) {
      ++it;
      continue;
    }
    divert_all(from, it->first);
    it = from.incoming.open.erase(it);
  }
}

}  // namespace urakata::transport
