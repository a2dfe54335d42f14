// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/stripe_sender.hpp"

#include <algorithm>
#include <utility>

namespace urakata::transport {

namespace {

constexpr std::uint64_t kLeastFlight = 4096;  // bytes of a first flight that are worth a piece

}  // namespace

// --- the choice of a stripe ------------------------------------------------------------------------------------------

// What a stripe of the first `most` may have under way: its share of all that is still to come, so that stripes end
// together. The kernel takes more of it than that, and soon, as far as windows allow: then whoever asks first would
// have the most.
std::uint64_t StripeSender::share_of(const StripePeer& to, std::uint32_t most) {
  std::uint64_t all = to.outgoing.backlog;
  std::uint32_t stripes = 0;
  for (const Stripe& stripe : to.stripes) {
    if (!stripe.sends()) continue;
    if (++stripes > most) break;
    all += stripe.given.bytes;
  }
  return all / std::clamp(stripes, 1U, std::max(most, 1U)) + StripeSizes::kLeastPiece;
}

// The stripe that has the least under way, of those that can take more.
StripeSender::FreeStripe StripeSender::free_stripe(StripePeer& to, const Streams& use) {
  constexpr std::uint64_t kFlight = StripeSizes::kFirstFlight;
  FreeStripe best;
  // Stripes that the link does not need take what goes first after a pause. Later that would come behind a queue that
  // is full, and be lost, with nothing behind it that shows it.
  const bool idle = std::ranges::all_of(to.stripes, [](const Stripe& stripe) { return stripe.given.bytes == 0; });
  if (idle) to.outgoing.first_bytes = std::uint64_t{use.first} * kFlight;
  const std::uint64_t share = share_of(to, use.most);
  std::uint32_t count = 0;
  for (Stripe& stripe : to.stripes) {
    if (!stripe.sends()) continue;
    if (++count > use.first) break;
    if (stripe.given.busy) continue;
    const std::uint64_t has = stripe.given.bytes;
    const bool first_flight = has + kLeastFlight <= kFlight;
    if (count > use.most && !(first_flight && to.outgoing.first_bytes != 0)) continue;
    if (!first_flight && has + StripeSizes::kLeastPiece > share) continue;
    if (has == 0) ++best.idle;
    if (best.stripe != nullptr && has >= best.stripe->given.bytes) continue;
    best.stripe = &stripe;
    best.room = first_flight ? kFlight - has : std::min(StripeSizes::kMostPiece, share - has);
  }
  return best;
}

void StripeSender::push(StripePeer& to) {
  auto& waiting = to.outgoing.waiting;
  if (!waiting.empty()) pool_.open(to);
  std::uint32_t full = 0;  // none of so many stripes is free
  for (std::size_t at = 0; at < waiting.size();) {
    OutgoingMessage& message = *waiting[at];
    if (!message.more()) {
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    const Streams use = counts_.of(to, message.streams);
    if (!message.ready() || use.first <= full) {
      ++at;
      continue;
    }
    const FreeStripe free = free_stripe(to, use);
    if (free.stripe == nullptr) {
      full = use.first;
      continue;
    }
    give(to, message, free);
  }
}

// --- pieces ----------------------------------------------------------------------------------------------------------

// Towards the end of all that waits pieces are shorter, so that stripes end together.
OutgoingMessage::Span StripeSender::next_piece(StripePeer& to, OutgoingMessage& message, const FreeStripe& free) const {
  if (!message.again.empty()) {
    const OutgoingMessage::Span piece = message.again.back();
    message.again.pop_back();
    ++to.traffic.again;
    return piece;
  }
  // What fits into the first flights of idle stripes is dealt out to them alike.
  std::uint64_t& backlog = to.outgoing.backlog;
  const bool fits = free.idle != 0 && backlog <= free.idle * StripeSizes::kFirstFlight;
  const std::uint64_t share = fits ? std::max((backlog + free.idle - 1) / free.idle, StripeSizes::kPacket)
                                   : std::min(std::clamp(backlog / (2UL * counts_.of(to, message.streams).most),
                                                         StripeSizes::kLeastPiece, StripeSizes::kMostPiece),
                                              free.room);
  std::uint64_t left = message.bytes - message.next;
  if (!message.clear_to_send) left = std::min(left, StripeSizes::kPush - message.next);
  const OutgoingMessage::Span piece{message.next, left < share + share / 2 && left <= free.room ? left : share};
  message.next += piece.bytes;
  message.given = message.next == message.bytes;
  backlog -= piece.bytes;
  return piece;
}

void StripeSender::give(StripePeer& to, OutgoingMessage& message, const FreeStripe& free) {
  Stripe& stripe = *free.stripe;
  PiecesUnderWay& given = stripe.given;
  const OutgoingMessage::Span piece = next_piece(to, message, free);
  ++to.traffic.pieces;
  to.traffic.bytes += piece.bytes;
  to.outgoing.first_bytes -= std::min(to.outgoing.first_bytes, piece.bytes);
  message.unacked.insert(piece.offset);
  if (given.pieces.empty()) given.busy_since_ns = settings_.now();
  given.pieces.push_back({&message, piece.offset, piece.bytes});
  given.bytes += piece.bytes;
  ++message.queued;
  given.busy = true;
  const std::uint64_t id = piece.offset << StripeSizes::kNumberBits | (message.key.number & StripeSizes::kNumberMask);
  const bool last = piece.offset + piece.bytes == message.bytes;
  const FrameKind kind = last ? FrameKind::stripe_end : FrameKind::stripe_piece;
  const bool gone =
      stripe.connection->send({.frame = {.kind = kind, .tag = message.key.tag, .bytes = piece.bytes, .id = id},
                               .payload = message.payload.at(piece.offset)});
  if (stripe.connection->broken()) return pool_.lose(stripe);
  if (gone) {
    given.busy = false;
    handed(message);
  }
}

void StripeSender::flushed(Stripe& stripe) {
  stripe.given.busy = false;
  handed(*stripe.given.pieces.back().message);
  push(stripe.peer);
}

// --- the end of a send -----------------------------------------------------------------------------------------------

bool StripeSender::send(StripePeer& to, const Message& message, const Waiter& waiter) {
  if (to.failed) {
    waiter.complete(failure_);
    return false;
  }
  OutgoingMessage& out = to.outgoing.open.emplace_back();
  out.key = {message.tag, to.outgoing.sent[message.tag]++};
  out.bytes = message.bytes;
  out.payload.address = message.address;
  out.streams = message.streams;
  if (message.layout != nullptr) {
    std::vector<std::byte>& kept = out.payload.kept;
    kept.resize(message.bytes);
    message.layout->pack(message.address, 0, message.bytes / message.layout->size, kept.data());
    out.payload.address = kept.data();
  }
  to.outgoing.backlog += message.bytes;
  to.silence.note_wanted(settings_.now);
  periods_.begin(to, message);
  to.outgoing.waiting.push_back(&out);
  push(to);
  if (to.failed) {  // and `out` is no more
    waiter.complete(failure_);
    return false;
  }
  if (!out.more() && out.queued == 0 && out.may_be_kept()) {
    out.keep();
    return true;
  }
  out.waiter = waiter;
  return false;
}

// The kernel has taken all of a piece of the message.
void StripeSender::handed(OutgoingMessage& message) {
  --message.queued;
  if (message.waiter.queue == nullptr) return;
  message.waiter.ticket.tell(message.next);  // given to stripes: up to a piece of each of them is still to go
  if (message.queued == 0 && !message.more()) sent_all(message);
}

// Nobody need wait for what the kernel has, if we can send it again.
void StripeSender::sent_all(OutgoingMessage& message) {
  if (!message.may_be_kept()) return;
  message.keep();
  std::exchange(message.waiter, {}).complete(0);
}

void StripeSender::acknowledged(Stripe& stripe, std::uint64_t pieces) {
  StripePeer& to = stripe.peer;
  PiecesUnderWay& given = stripe.given;
  while (given.acked < pieces && !given.pieces.empty()) {
    const PiecesUnderWay::Piece piece = given.pieces.front();
    if (given.busy && given.pieces.size() == 1) return;  // it cannot have come
    given.pieces.pop_front();
    given.bytes -= piece.bytes;
    to.traffic.acked += piece.bytes;
    periods_.end(to, piece.bytes);
    ++given.acked;
    OutgoingMessage& message = *piece.message;
    message.unacked.erase(piece.offset);
    if (message.more() || message.queued != 0) continue;
    const bool awaited = message.waiter.queue != nullptr;
    if (message.unacked.empty()) {
      if (awaited) message.waiter.complete(0);
      to.outgoing.remove(message);
    } else if (awaited) {
      sent_all(message);
    }
  }
}

std::size_t StripeSender::cancel(StripePeer& to, const void* instance) {
  std::size_t taken = 0;
  for (auto it = to.outgoing.open.begin(); it != to.outgoing.open.end();) {
    OutgoingMessage& message = *it;
    if (message.waiter.queue == nullptr || message.waiter.ticket.instance != instance) {
      ++it;
      continue;
    }
    ++taken;
    // What a stripe has been given goes on, from memory of ours; the rest nobody wants.
    for (Stripe& stripe : to.stripes) {
      const auto& pieces = stripe.given.pieces;
      if (!stripe.out || pieces.empty() || pieces.back().message != &message) continue;
      for (Connection::Outgoing& out : stripe.connection->queue()) out.keep_payload();
    }
    to.outgoing.backlog -= message.bytes - message.next;
    message.give_up();
    std::erase(to.outgoing.waiting, &message);
    it = message.unacked.empty() ? to.outgoing.open.erase(it) : std::next(it);
  }
  return taken;
}

}  // namespace urakata::transport
