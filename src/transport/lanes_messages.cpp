// SPDX-License-Identifier: BSD-3-Clause
// Which piece belongs to which message, and where it lands.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "transport/group.hpp"
#include "transport/lanes.hpp"

namespace urakata::transport {

bool Lanes::is_over(std::int32_t tag) const { return !over_.empty() && over_.contains(tag >> Group::kContextShift); }

// --- sending ---------------------------------------------------------------------------------------------------------

// True: it is gone already.
bool Lanes::send(LanesPort& port, const Message& message, Ticket ticket) {
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

void Lanes::acknowledged(Peer& to, Lane& lane, std::uint64_t pieces) {
  while (lane.acked < pieces && !lane.unacked.empty()) {
    const Given given = lane.unacked.front();
    if (lane.busy && lane.unacked.size() == 1) return;  // it cannot have come
    lane.unacked.pop_front();
    lane.unacked_bytes -= given.bytes;
    to.traffic.acked += given.bytes;
    end_busy(lane.rank, given.bytes);
    ++lane.acked;
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

void Lanes::go(Peer& to, std::int32_t tag, std::uint64_t number) {
  for (Outgoing& message : to.outgoing) {
    if (message.tag == tag && (message.number & kNumberMask) == number) message.go = true;
  }
}

// --- receiving -------------------------------------------------------------------------------------------------------

// True: it is finished already, with `*error`.
bool Lanes::recv(LanesPort& port, const Message& message, Ticket ticket, int* error) {
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
  for (Lane& lane : from.lanes) {
    if (!lane.out && !lane.connection->broken() && !incoming.pieces.empty()) {
      tell_go(lane, incoming, key);
      incoming.told = true;
      break;
    }
  }
  note(from);
  if (!wanted_) arm();
  return false;
}

// 0, or an error code.
int Lanes::conclude(Incoming& incoming) {
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

void Lanes::tell_go(Lane& lane, const Incoming& incoming, const Key& key) {
  if (incoming.message.bytes <= kPush) return;
  lane.connection->send({.frame = {.kind = FrameKind::lane_go, .tag = key.first, .id = key.second & kNumberMask}});
}

// By every lane, to those that wait for it still.
void Lanes::tell_all_go(Peer& from) {
  for (auto& [key, incoming] : from.incoming) {
    if (incoming.port == nullptr || incoming.pieces.empty() || *incoming.pieces.rbegin() >= kPush) continue;
    for (Lane& lane : from.lanes) {
      const bool takes = !lane.connection->broken() && lane.connection->queue().empty();
      if (!lane.out && takes) tell_go(lane, incoming, key);
    }
  }
}

std::byte* Lanes::throw_away(Lane& lane, std::uint64_t bytes) {
  lane.thrown_away = true;
  lane.spill.resize(std::max<std::uint64_t>(bytes, 1));
  return lane.spill.data();
}

// What comes in at the moment goes elsewhere.
void Lanes::divert(Lane& lane) {
  if (lane.placed && !lane.thrown_away) {
    lane.connection->divert(throw_away(lane, lane.connection->incoming()));
  }
}

std::byte* Lanes::place(Connection& from, const Frame& frame) {
  const auto at = by_connection_.find(&from);
  if (frame.kind != FrameKind::lane_piece || at == by_connection_.end() || at->second->out || !from.open ||
      frame.bytes > 2 * kMostPiece) {
    return nullptr;
  }
  Lane& lane = *at->second;
  Peer& sender = peers_[lane.rank];
  // The number that is nearest to the receives that are there.
  const std::uint64_t posted = sender.posted[frame.tag];
  std::uint64_t ahead = (frame.id - posted) & kNumberMask;
  std::uint64_t number = posted + ahead;
  if (ahead > kNumberMask / 2 && number >= kNumberMask + 1) number -= kNumberMask + 1;
  lane.key = {frame.tag, number};
  lane.offset = frame.id >> kNumberBits;
  lane.placed = true;
  lane.thrown_away = false;
  lane.aside = false;
  const auto found = sender.incoming.find(lane.key);
  if (is_over(frame.tag) || (number < posted && found == sender.incoming.end())) return throw_away(lane, frame.bytes);
  Incoming& incoming = found != sender.incoming.end() ? found->second : sender.incoming[lane.key];
  if (incoming.pieces.contains(lane.offset)) return throw_away(lane, frame.bytes);  // it has come already
  if (incoming.port == nullptr) {
    // Of twins, which lanes of which one was given up may bring at a time, each has a place of its own: either may end here.
    lane.aside = true;
    lane.spill.resize(std::max<std::uint64_t>(frame.bytes, 1));
    return lane.spill.data();
  }
  if (lane.offset + frame.bytes > incoming.message.bytes) return throw_away(lane, frame.bytes);
  static std::byte nothing{};
  return frame.bytes != 0 ? incoming.room() + lane.offset : &nothing;
}

bool Lanes::arrived(Connection& from, const Frame& frame) {
  const auto at = by_connection_.find(&from);
  if (at == by_connection_.end()) return false;
  Lane& lane = *at->second;
  Peer& other = peers_[lane.rank];
  switch (frame.kind) {
    case FrameKind::hello_ack:
      if (!lane.out || from.open || frame.tag != lane.rank || !wire_.named_secret(frame)) return false;
      from.open = true;
      other.down_since_ns = 0;
      other.traffic.lanes = std::max(other.traffic.lanes, static_cast<std::uint32_t>(alive(other, true, true)));
      push(lane.rank, other);
      return !from.broken();
    case FrameKind::lane_ack:
      if (!lane.out || !from.open) return false;
      acknowledged(other, lane, frame.bytes);
      return true;
    case FrameKind::lane_go:
      if (!lane.out || !from.open) return false;
      go(other, frame.tag, frame.id);
      push(lane.rank, other);
      return true;
    case FrameKind::notice:
      if (!from.open) return false;
      failures_.add({.from = lane.rank, .origin = static_cast<std::int32_t>(frame.id), .context = frame.tag});
      return true;
    case FrameKind::lane_piece:
      if (frame.bytes == 0 && place(from, frame) == nullptr) return false;  // nobody has asked for room
      return landed(other, lane, frame);
    default:
      return false;
  }
}

bool Lanes::landed(Peer& from, Lane& lane, const Frame& frame) {
  if (lane.out || !lane.placed) return false;
  lane.placed = false;
  if (lane.come++ == lane.told) to_acknowledge_.push_back(&lane);
  const auto found = from.incoming.find(lane.key);
  if (found == from.incoming.end()) return true;
  Incoming& incoming = found->second;
  if (lane.thrown_away) {
    // One that does not fit its receive.
    if (incoming.port == nullptr || incoming.pieces.contains(lane.offset) ||
        lane.offset + frame.bytes <= incoming.message.bytes) {
      return true;
    }
  }
  incoming.pieces.insert(lane.offset);
  incoming.come += frame.bytes;
  for (Lane& other : from.lanes) {
    if (&other != &lane && !other.out && other.key == lane.key && other.offset == lane.offset) divert(other);
  }
  if (incoming.port == nullptr) {
    lane.spill.resize(frame.bytes);
    incoming.unexpected[lane.offset] = std::exchange(lane.spill, {});
    return true;
  }
  if (lane.aside && lane.offset + frame.bytes <= incoming.message.bytes && frame.bytes != 0) {
    std::memcpy(incoming.room() + lane.offset, lane.spill.data(), frame.bytes);
  }
  if (!std::exchange(incoming.told, true)) tell_go(lane, incoming, lane.key);
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

std::uint64_t Lanes::moved(const Ticket& ticket, std::int32_t peer, bool send) {
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

std::size_t Lanes::cancel(const void* instance) {
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
      // What a lane has been given goes on, from memory of ours; the rest nobody wants.
      for (Lane& lane : peer.lanes) {
        for (Connection::Outgoing& out : lane.connection->queue()) {
          if (lane.out && !lane.unacked.empty() && lane.unacked.back().message == &message) out.keep_payload();
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
      for (Lane& lane : peer.lanes) {
        if (!lane.out && lane.placed && lane.key == it->first) divert(lane);
      }
      it = peer.incoming.erase(it);
    }
    note(peer);
  }
  arm();
  return taken;
}

void Lanes::tell(std::int32_t whom, const Notice& notice) {
  const std::lock_guard guard(lock_);
  over_.insert(notice.origin);
  for (auto& [rank, peer] : peers_) {
    for (auto it = peer.incoming.begin(); it != peer.incoming.end();) {
      if (it->second.port != nullptr || !is_over(it->first.first)) {
        ++it;
        continue;
      }
      for (Lane& lane : peer.lanes) {
        if (!lane.out && lane.placed && lane.key == it->first) divert(lane);
      }
      it = peer.incoming.erase(it);
    }
  }
  const auto to = peers_.find(whom);
  if (to == peers_.end()) return;
  for (Lane& lane : to->second.lanes) {
    if (!lane.connection->open || lane.connection->broken()) continue;
    lane.connection->send_soon(
        {.frame = {.kind = FrameKind::notice, .tag = notice.context, .id = static_cast<std::uint32_t>(notice.origin)}});
  }
}

}  // namespace urakata::transport
