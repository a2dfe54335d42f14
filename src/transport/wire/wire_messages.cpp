// SPDX-License-Identifier: BSD-3-Clause
// Which message meets which receive.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "transport/group.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::transport {

// --- sending ---------------------------------------------------------------------------------------------------------

bool Wire::send(WirePort& port, const Message& message, Ticket ticket) {
  const std::lock_guard guard(lock_);
  Peer& to = peer(message.peer);
  if (!reach(message.peer, to)) {
    complete(port, ticket, failure_);
    return false;
  }
  const bool gone = send(to,
                         {.frame = {.kind = FrameKind::message, .tag = message.tag, .bytes = message.bytes},
                          .payload = message.address,
                          .reported = true,
                          .port = &port,
                          .ticket = ticket},
                         message);
  if (to.link != nullptr && ended(*to.link)) lost(*to.link);
  return gone;
}

bool Wire::send(Peer& to, Connection::Outgoing&& out, const Message& message) {
  if (message.layout != nullptr) {
    out.packed.resize(message.bytes);
    message.layout->pack(message.address, 0, message.bytes / message.layout->size, out.packed.data());
    out.payload = out.packed.data();
  }
  if (message.bytes <= kEager) return send(to, std::move(out));
  const std::uint64_t id = to.next_id++;
  send(to, {.frame = {.kind = FrameKind::rts, .tag = message.tag, .bytes = message.bytes, .id = id}});
  out.frame.kind = FrameKind::payload;
  out.frame.id = id;
  to.waiting.emplace(id, std::move(out));
  return false;
}

bool Wire::send(Peer& to, Connection::Outgoing&& out) {
  if (to.link != nullptr) return to.link->send(std::move(out));
  to.held.push_back(std::move(out));
  return false;
}

void Wire::cts_sent(Peer& to, std::uint64_t id) {
  const auto found = to.waiting.find(id);
  if (found == to.waiting.end()) return;
  Connection::Outgoing out = std::move(found->second);
  to.waiting.erase(found);
  auto& port = *static_cast<WirePort*>(out.port);
  const Ticket ticket = out.ticket;
  if (to.link->send(std::move(out))) complete(port, ticket, 0);
}

void Wire::report(const Connection::Outgoing& sent) {
  if (sent.port == nullptr) return;
  if (is_put(sent.frame.kind)) return static_cast<PutSink*>(sent.port)->left(sent.ticket.node);
  complete(*static_cast<WirePort*>(sent.port), sent.ticket, 0);
}

// --- what has failed -------------------------------------------------------------------------------------------------

std::size_t Wire::cancel(const void* instance) {
  const std::lock_guard guard(lock_);
  std::size_t taken = 0;
  const auto given_up = [&](const auto& one) { return one.port != nullptr && one.ticket.instance == instance; };
  for (auto& [rank, other] : peers_) {
    if (other.link != nullptr) taken += other.link->take_back(instance);
    taken += std::erase_if(other.held, given_up);
    taken += std::erase_if(other.waiting, [&](const auto& entry) { return given_up(entry.second); });
    taken += std::erase_if(other.posted, given_up);
    for (auto& [id, receive] : other.cts_sent) {
      if (!given_up(receive)) continue;
      receive.port = nullptr;
      receive.ticket = {};
      ++taken;
    }
    if (other.current && given_up(*other.current)) {
      other.link->divert(throw_away(other, other.link->incoming()));
      other.current->port = nullptr;
      other.current->ticket = {};
      ++taken;
    }
    for (const auto& unexpected : other.unexpected) {
      if (!unexpected->taker || !given_up(*unexpected->taker)) continue;
      unexpected->taker.reset();
      ++taken;
    }
  }
  return taken;
}

void Wire::tell(std::int32_t rank, const Notice& notice) {
  const std::lock_guard guard(lock_);
  over_.insert(notice.origin);
  for (auto& [other, from] : peers_) {
    std::erase_if(from.unexpected, [&](const auto& unexpected) {
      return (unexpected->whole || unexpected->rts_received) && is_over(unexpected->tag);
    });
  }
  Peer& to = peer(rank);
  if (!link_to(rank, to)) return;
  Connection::Outgoing out{
      .frame = {.kind = FrameKind::notice, .tag = notice.context, .id = static_cast<std::uint32_t>(notice.origin)}};
  if (to.link == nullptr) {
    to.held.push_back(std::move(out));
  } else if (!to.link->broken()) {
    to.link->send_soon(std::move(out));
    if (ended(*to.link)) lost(*to.link);  // no epoll set tells of it any more
  }
}

bool Wire::is_over(std::int32_t tag) const { return !over_.empty() && over_.contains(tag >> Group::kContextShift); }

std::byte* Wire::throw_away(Peer& from, std::uint64_t bytes) {
  from.thrown_away.resize(std::max<std::uint64_t>(bytes, 1));
  return from.thrown_away.data();
}

// --- receiving -------------------------------------------------------------------------------------------------------

// True: it is finished already, with `*error`.
bool Wire::recv(WirePort& port, const Message& message, Ticket ticket, int* error) {
  const std::lock_guard guard(lock_);
  Peer& from = peer(message.peer);
  Posted receive{.port = &port, .ticket = ticket, .message = message};
  if (message.layout != nullptr) receive.packed.resize(message.bytes);
  const auto found = std::ranges::find_if(from.unexpected, [&](const auto& unexpected) {
    return unexpected->tag == message.tag && unexpected->taker == nullptr;
  });
  if (found == from.unexpected.end()) {
    if (from.link != nullptr && from.link->broken()) {
      *error = failure_;
      return true;
    }
    from.posted.push_back(std::move(receive));
    return false;
  }
  Unexpected& unexpected = **found;
  if (unexpected.rts_received) {
    const std::uint64_t id = unexpected.id;
    const std::uint64_t bytes = unexpected.bytes;
    from.unexpected.erase(found);
    if (bytes > message.bytes) {
      *error = too_long(bytes, message.bytes);
      return true;
    }
    send_cts(from, id, std::move(receive));
    if (from.link->broken()) lost(*from.link);
    return false;
  }
  if (!unexpected.whole) {
    unexpected.taker = std::make_unique<Posted>(std::move(receive));
    return false;
  }
  *error = deliver(unexpected, receive);
  from.unexpected.erase(found);
  return true;
}

int Wire::deliver(Unexpected& unexpected, Posted& receive) {
  if (unexpected.bytes <= receive.message.bytes && unexpected.bytes != 0) {
    std::memcpy(receive.room(), unexpected.payload.data(), unexpected.bytes);
  }
  return unpack(receive, unexpected.bytes);
}

int Wire::too_long(std::uint64_t bytes, std::uint64_t room) {
  log::error("a message of %llu bytes came for a receive of %llu", static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(room));
  return failure_;
}

void Wire::send_cts(Peer& to, std::uint64_t id, Posted&& receive) {
  to.cts_sent.emplace(id, std::move(receive));
  to.link->send_soon({.frame = {.kind = FrameKind::cts, .id = id}});
}

// `bytes` have been put into the receive's room, if they fit. 0, or an error code.
int Wire::unpack(Posted& receive, std::uint64_t bytes) {
  const Message& message = receive.message;
  if (bytes > message.bytes) return too_long(bytes, message.bytes);
  if (message.layout != nullptr && bytes != 0) {
    message.layout->unpack(receive.packed.data(), message.address, 0, bytes / message.layout->size);
  }
  return 0;
}

std::byte* Wire::place(Connection& from, const Frame& frame) {
  if (!from.open) return nullptr;
  Peer& sender = peer(from.rank);
  if (frame.kind == FrameKind::put) return place_put(from.rank, sender, frame);
  if (frame.kind == FrameKind::payload) {
    const auto found = sender.cts_sent.find(frame.id);
    if (found == sender.cts_sent.end() || frame.bytes > found->second.message.bytes) return nullptr;
    sender.current = std::make_unique<Posted>(std::move(found->second));
    sender.cts_sent.erase(found);
    return sender.current->port != nullptr ? sender.current->room() : throw_away(sender, frame.bytes);
  }
  const auto found =
      std::ranges::find_if(sender.posted, [&](const Posted& one) { return one.message.tag == frame.tag; });
  if (found == sender.posted.end()) {
    if (frame.bytes > kEager) return nullptr;
    if (is_over(frame.tag)) {
      sender.current = std::make_unique<Posted>();
      return throw_away(sender, frame.bytes);
    }
    auto unexpected = std::make_unique<Unexpected>();
    unexpected->tag = frame.tag;
    unexpected->bytes = frame.bytes;
    unexpected->payload.resize(frame.bytes);
    sender.current_unexpected = unexpected.get();
    sender.unexpected.push_back(std::move(unexpected));
    return sender.current_unexpected->payload.data();
  }
  sender.current = std::make_unique<Posted>(std::move(*found));
  sender.posted.erase(found);
  return frame.bytes <= sender.current->message.bytes ? sender.current->room() : throw_away(sender, frame.bytes);
}

bool Wire::arrived(Connection& from, const Frame& frame) {
  const bool secret = named_secret(frame);
  switch (frame.kind) {
    case FrameKind::hello:
      if (from.ours || from.rank >= 0 || !secret || frame.tag < 0) return false;
      adopt(from);
      return hello(from, frame.tag);
    case FrameKind::hello_ordered:
    case FrameKind::hello_bulk:
    case FrameKind::hello_stripe:
      return !from.ours && from.rank < 0 && secret && frame.tag >= 0 && acceptor_.hand_over(from, frame);
    case FrameKind::probe:
      if (from.ours || !secret) return false;
      adopt(from);
      greet(from, FrameKind::hello_ack);
      return true;
    case FrameKind::hello_ack:
      return from.ours && secret && hello_ack(from, frame.tag);
    case FrameKind::cts:
      if (from.open) cts_sent(peer(from.rank), frame.id);
      return from.open;
    case FrameKind::notice:
      if (!from.open) return false;
      failures_.add({.from = from.rank, .origin = static_cast<std::int32_t>(frame.id), .context = frame.tag});
      return true;
    case FrameKind::rts:
      return from.open && rts_received(peer(from.rank), frame);
    case FrameKind::put:
    case FrameKind::put_open:
    case FrameKind::put_ready:
    case FrameKind::put_over:
      return from.open && put_arrived(from.rank, peer(from.rank), frame);
    case FrameKind::message:
    case FrameKind::payload:
      if (!from.open) return false;
      break;
    default:
      return false;
  }
  Peer& sender = peer(from.rank);
  if (frame.bytes == 0) place(from, frame);  // nobody has asked for room
  if (sender.current) {
    const auto receive = std::move(sender.current);
    if (receive->port != nullptr) complete(*receive->port, receive->ticket, unpack(*receive, frame.bytes));
  } else {
    Unexpected& unexpected = *std::exchange(sender.current_unexpected, nullptr);
    unexpected.whole = true;
    if (unexpected.taker)
      complete(*unexpected.taker->port, unexpected.taker->ticket, deliver(unexpected, *unexpected.taker));
    if (unexpected.taker || is_over(unexpected.tag)) {
      std::erase_if(sender.unexpected, [&](const auto& one) { return one.get() == &unexpected; });
    }
  }
  return true;
}

bool Wire::rts_received(Peer& from, const Frame& frame) {
  const auto found = std::ranges::find_if(from.posted, [&](const Posted& one) { return one.message.tag == frame.tag; });
  if (found == from.posted.end()) {
    if (is_over(frame.tag)) return true;  // its sender is told
    auto unexpected = std::make_unique<Unexpected>();
    unexpected->tag = frame.tag;
    unexpected->bytes = frame.bytes;
    unexpected->rts_received = true;
    unexpected->id = frame.id;
    from.unexpected.push_back(std::move(unexpected));
    return true;
  }
  Posted receive = std::move(*found);
  from.posted.erase(found);
  if (frame.bytes > receive.message.bytes) {
    complete(*receive.port, receive.ticket, too_long(frame.bytes, receive.message.bytes));
  } else {
    send_cts(from, frame.id, std::move(receive));
  }
  return true;
}

}  // namespace urakata::transport
