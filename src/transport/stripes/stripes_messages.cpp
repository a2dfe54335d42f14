// SPDX-License-Identifier: BSD-3-Clause
// Which piece belongs to which message, and where it lands.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "transport/group.hpp"
#include "transport/stripes/stripes.hpp"

namespace urakata::transport {

bool Stripes::is_over(std::int32_t tag) const { return !over_.empty() && over_.contains(tag >> Group::kContextShift); }

// --- sending ---------------------------------------------------------------------------------------------------------

// True: it is gone already.
bool Stripes::send(StripesPort& port, const Message& message, Ticket ticket) {
  const std::lock_guard guard(lock_);
  Peer& to = peers_[message.peer];
  if (to.failed) {
    complete(port, ticket, failure_);
    return false;
  }
  Outgoing& out = to.outgoing.emplace_back();
  out.tag = message.tag;
  out.number = to.sent[message.tag]++;
  out.bytes = message.bytes;
  out.ticket = ticket;
  out.payload = message.address;
  out.streams = message.streams;
  if (message.layout != nullptr) {
    out.kept.resize(message.bytes);
    message.layout->pack(message.address, 0, message.bytes / message.layout->size, out.kept.data());
    out.payload = out.kept.data();
  }
  to.backlog += message.bytes;
  if (to.wanted_since_ns == 0) to.wanted_since_ns = settings_.now();
  begin_busy(message.peer, message);
  to.waiting.push_back(&out);
  push(message.peer, to);
  if (to.failed) {
    complete(port, ticket, failure_);
    return false;
  }
  if (!out.more() && out.queued == 0 && (out.unacked.empty() || out.bytes - *out.unacked.begin() <= kMostKept)) {
    keep(out);
    out.ticket = {};
    if (!wanted_) arm();
    return true;
  }
  out.port = &port;
  if (!wanted_) arm();
  return false;
}

void Stripes::acknowledged(Peer& to, Stripe& stripe, std::uint64_t pieces) {
  while (stripe.acked < pieces && !stripe.unacked.empty()) {
    const Given given = stripe.unacked.front();
    if (stripe.busy && stripe.unacked.size() == 1) return;  // it cannot have come
    stripe.unacked.pop_front();
    stripe.unacked_bytes -= given.bytes;
    to.traffic.acked += given.bytes;
    end_busy(stripe.rank, given.bytes);
    ++stripe.acked;
    Outgoing& message = *given.message;
    message.unacked.erase(given.offset);
    if (message.more() || message.queued != 0) continue;
    if (message.unacked.empty()) {
      if (message.port != nullptr) complete(*message.port, message.ticket, 0);
      std::erase(to.waiting, &message);
      to.outgoing.remove_if([&](const Outgoing& one) { return &one == &message; });
    } else if (message.port != nullptr) {
      sent_all(to, message);
    }
  }
}

void Stripes::clear_to_send(Peer& to, std::int32_t tag, std::uint64_t number) {
  for (Outgoing& message : to.outgoing) {
    if (message.tag == tag && (message.number & kNumberMask) == number) message.clear_to_send = true;
  }
}

// --- receiving -------------------------------------------------------------------------------------------------------

// True: it is finished already, with `*error`.
bool Stripes::recv(StripesPort& port, const Message& message, Ticket ticket, int* error) {
  const std::lock_guard guard(lock_);
  Peer& from = peers_[message.peer];
  if (from.failed) {
    *error = failure_;
    return true;
  }
  if (from.wanted_since_ns == 0) from.wanted_since_ns = settings_.now();
  const Key key{message.tag, from.posted[message.tag]++};
  Incoming& incoming = from.incoming[key];
  incoming.port = &port;
  incoming.ticket = ticket;
  incoming.message = message;
  if (message.layout != nullptr) incoming.packed.resize(message.bytes);
  for (const auto& [offset, piece] : incoming.unexpected) {
    if (offset + piece.size() <= message.bytes && !piece.empty()) {
      std::memcpy(incoming.room() + offset, piece.data(), piece.size());
    }
  }
  incoming.unexpected.clear();
  if (incoming.come >= message.bytes && !incoming.pieces.empty()) {
    *error = conclude(incoming);
    from.incoming.erase(key);
    return true;
  }
  for (Stripe& stripe : from.stripes) {
    if (!stripe.out && !stripe.connection->broken() && !incoming.pieces.empty()) {
      tell_clear_to_send(stripe, incoming, key);
      incoming.told = true;
      break;
    }
  }
  note(from);
  if (!wanted_) arm();
  return false;
}

// 0, or an error code.
int Stripes::conclude(Incoming& incoming) {
  const Message& message = incoming.message;
  if (incoming.come > message.bytes) {
    log::error("a message of %llu bytes came for a receive of %llu", static_cast<unsigned long long>(incoming.come),
               static_cast<unsigned long long>(message.bytes));
    return failure_;
  }
  if (message.layout != nullptr && message.bytes != 0) {
    message.layout->unpack(incoming.packed.data(), message.address, 0, message.bytes / message.layout->size);
  }
  return 0;
}

void Stripes::tell_clear_to_send(Stripe& stripe, const Incoming& incoming, const Key& key) {
  if (incoming.message.bytes <= kPush) return;
  stripe.connection->send(
      {.frame = {.kind = FrameKind::clear_to_send, .tag = key.first, .id = key.second & kNumberMask}});
}

// By every stripe, to those that wait for it still.
void Stripes::tell_all_clear_to_send(Peer& from) {
  for (auto& [key, incoming] : from.incoming) {
    if (incoming.port == nullptr || incoming.pieces.empty() || *incoming.pieces.rbegin() >= kPush) continue;
    for (Stripe& stripe : from.stripes) {
      const bool takes = !stripe.connection->broken() && stripe.connection->queue().empty();
      if (!stripe.out && takes) tell_clear_to_send(stripe, incoming, key);
    }
  }
}

std::byte* Stripes::throw_away(Stripe& stripe, std::uint64_t bytes) {
  stripe.thrown_away = true;
  stripe.spill.resize(std::max<std::uint64_t>(bytes, 1));
  return stripe.spill.data();
}

// What comes in at the moment goes elsewhere.
void Stripes::divert(Stripe& stripe) {
  if (stripe.placed && !stripe.thrown_away) {
    stripe.connection->divert(throw_away(stripe, stripe.connection->incoming()));
  }
}

std::byte* Stripes::place(Connection& from, const Frame& frame) {
  const auto at = by_connection_.find(&from);
  if (frame.kind != FrameKind::stripe_piece || at == by_connection_.end() || at->second->out || !from.open ||
      frame.bytes > 2 * kMostPiece) {
    return nullptr;
  }
  Stripe& stripe = *at->second;
  Peer& sender = peers_[stripe.rank];
  // The number that is nearest to the receives that are there.
  const std::uint64_t posted = sender.posted[frame.tag];
  std::uint64_t ahead = (frame.id - posted) & kNumberMask;
  std::uint64_t number = posted + ahead;
  if (ahead > kNumberMask / 2 && number >= kNumberMask + 1) number -= kNumberMask + 1;
  stripe.key = {frame.tag, number};
  stripe.offset = frame.id >> kNumberBits;
  stripe.placed = true;
  stripe.thrown_away = false;
  stripe.aside = false;
  const auto found = sender.incoming.find(stripe.key);
  if (is_over(frame.tag) || (number < posted && found == sender.incoming.end())) return throw_away(stripe, frame.bytes);
  Incoming& incoming = found != sender.incoming.end() ? found->second : sender.incoming[stripe.key];
  if (incoming.pieces.contains(stripe.offset)) return throw_away(stripe, frame.bytes);  // it has come already
  if (incoming.port == nullptr) {
    // Of twins, which stripes of which one was given up may bring at a time, each has a place of its own: either may
    // end here.
    stripe.aside = true;
    stripe.spill.resize(std::max<std::uint64_t>(frame.bytes, 1));
    return stripe.spill.data();
  }
  if (stripe.offset + frame.bytes > incoming.message.bytes) return throw_away(stripe, frame.bytes);
  static std::byte nothing{};
  return frame.bytes != 0 ? incoming.room() + stripe.offset : &nothing;
}

bool Stripes::arrived(Connection& from, const Frame& frame) {
  const auto at = by_connection_.find(&from);
  if (at == by_connection_.end()) return false;
  Stripe& stripe = *at->second;
  Peer& other = peers_[stripe.rank];
  switch (frame.kind) {
    case FrameKind::hello_ack:
      if (!stripe.out || from.open || frame.tag != stripe.rank || !wire_.named_secret(frame)) return false;
      from.open = true;
      other.down_since_ns = 0;
      other.traffic.stripes = std::max(other.traffic.stripes, static_cast<std::uint32_t>(alive(other, true, true)));
      push(stripe.rank, other);
      return !from.broken();
    case FrameKind::stripe_ack:
      if (!stripe.out || !from.open) return false;
      acknowledged(other, stripe, frame.bytes);
      return true;
    case FrameKind::clear_to_send:
      if (!stripe.out || !from.open) return false;
      clear_to_send(other, frame.tag, frame.id);
      push(stripe.rank, other);
      return true;
    case FrameKind::notice:
      if (!from.open) return false;
      failures_.add({.from = stripe.rank, .origin = static_cast<std::int32_t>(frame.id), .context = frame.tag});
      return true;
    case FrameKind::stripe_piece:
      if (frame.bytes == 0 && place(from, frame) == nullptr) return false;  // nobody has asked for room
      return landed(other, stripe, frame);
    default:
      return false;
  }
}

bool Stripes::landed(Peer& from, Stripe& stripe, const Frame& frame) {
  if (stripe.out || !stripe.placed) return false;
  stripe.placed = false;
  if (stripe.come++ == stripe.told) to_acknowledge_.push_back(&stripe);
  const auto found = from.incoming.find(stripe.key);
  if (found == from.incoming.end()) return true;
  Incoming& incoming = found->second;
  if (stripe.thrown_away) {
    // One that does not fit its receive.
    if (incoming.port == nullptr || incoming.pieces.contains(stripe.offset) ||
        stripe.offset + frame.bytes <= incoming.message.bytes) {
      return true;
    }
  }
  incoming.pieces.insert(stripe.offset);
  incoming.come += frame.bytes;
  for (Stripe& other : from.stripes) {
    if (&other != &stripe && !other.out && other.key == stripe.key && other.offset == stripe.offset) divert(other);
  }
  if (incoming.port == nullptr) {
    stripe.spill.resize(frame.bytes);
    incoming.unexpected[stripe.offset] = std::exchange(stripe.spill, {});
    return true;
  }
  if (stripe.aside && stripe.offset + frame.bytes <= incoming.message.bytes && frame.bytes != 0) {
    std::memcpy(incoming.room() + stripe.offset, stripe.spill.data(), frame.bytes);
  }
  if (!std::exchange(incoming.told, true)) tell_clear_to_send(stripe, incoming, stripe.key);
  if (incoming.come < incoming.message.bytes) {
    incoming.ticket.tell(incoming.come);
    return true;
  }
  const int error = conclude(incoming);
  complete(*incoming.port, incoming.ticket, error);
  from.incoming.erase(found);
  return true;
}

// --- progress seen ---------------------------------------------------------------------------------------------------

std::uint64_t Stripes::moved(const Ticket& ticket, std::int32_t peer, bool send) {
  const std::lock_guard guard(lock_);
  const auto found = peers_.find(peer);
  if (found == peers_.end()) return 0;
  const auto is_it = [&ticket](const auto& message) {
    return message.port != nullptr && message.ticket.instance == ticket.instance &&
           message.ticket.node == ticket.node && message.ticket.iteration == ticket.iteration;
  };
  if (send) {
    const auto out = std::ranges::find_if(found->second.outgoing, is_it);
    return out == found->second.outgoing.end() ? 0 : out->next;
  }
  const auto in = std::ranges::find_if(found->second.incoming, [&](const auto& entry) { return is_it(entry.second); });
  return in == found->second.incoming.end() ? 0 : in->second.come;
}

// --- what has failed -------------------------------------------------------------------------------------------------

std::size_t Stripes::cancel(const void* instance) {
  const std::lock_guard guard(lock_);
  std::size_t taken = 0;
  site_.clear();  // nobody judges the links by a job whose operations fail
  for (auto& [rank, peer] : peers_) {
    for (auto it = peer.outgoing.begin(); it != peer.outgoing.end();) {
      Outgoing& message = *it;
      if (message.port == nullptr || message.ticket.instance != instance) {
        ++it;
        continue;
      }
      ++taken;
      // What a stripe has been given goes on, from memory of ours; the rest nobody wants.
      for (Stripe& stripe : peer.stripes) {
        for (Connection::Outgoing& out : stripe.connection->queue()) {
          if (stripe.out && !stripe.unacked.empty() && stripe.unacked.back().message == &message) out.keep_payload();
        }
      }
      keep(message);
      peer.backlog -= message.bytes - message.next;
      message.next = message.bytes;
      message.given = true;
      message.again.clear();
      message.port = nullptr;
      message.ticket = {};
      std::erase(peer.waiting, &message);
      it = message.unacked.empty() ? peer.outgoing.erase(it) : std::next(it);
    }
    for (auto it = peer.incoming.begin(); it != peer.incoming.end();) {
      if (it->second.port == nullptr || it->second.ticket.instance != instance) {
        ++it;
        continue;
      }
      ++taken;
      for (Stripe& stripe : peer.stripes) {
        if (!stripe.out && stripe.placed && stripe.key == it->first) divert(stripe);
      }
      it = peer.incoming.erase(it);
    }
    note(peer);
  }
  arm();
  return taken;
}

void Stripes::tell(std::int32_t whom, const Notice& notice) {
  const std::lock_guard guard(lock_);
  over_.insert(notice.origin);
  for (auto& [rank, peer] : peers_) {
    for (auto it = peer.incoming.begin(); it != peer.incoming.end();) {
      if (it->second.port != nullptr || !is_over(it->first.first)) {
        ++it;
        continue;
      }
      for (Stripe& stripe : peer.stripes) {
        if (!stripe.out && stripe.placed && stripe.key == it->first) divert(stripe);
      }
      it = peer.incoming.erase(it);
    }
  }
  const auto to = peers_.find(whom);
  if (to == peers_.end()) return;
  for (Stripe& stripe : to->second.stripes) {
    if (!stripe.connection->open || stripe.connection->broken()) continue;
    stripe.connection->send_soon(
        {.frame = {.kind = FrameKind::notice, .tag = notice.context, .id = static_cast<std::uint32_t>(notice.origin)}});
  }
}

}  // namespace urakata::transport
