// Which message meets which receive.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "transport/group.hpp"
#include "transport/wire.hpp"

namespace urakata::transport {

// --- sending ---------------------------------------------------------------------------------------------------------

bool Wire::send(WirePort& port, const Message& message, Ticket ticket) {
  const std::lock_guard guard(lock_);
  Peer& to = peer(message.peer);
  if (!link_to(message.peer, to)) {
    log::error("cannot connect to rank %d: %s; run with --transport host if nodes cannot reach each other",
               message.peer, std::strerror(errno));
    complete(port, ticket, failure_);
    return false;
  }
  if (to.link != nullptr && to.link->broken()) {
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
  if (to.link != nullptr && to.link->broken()) lost(*to.link);
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
  send(to, {.frame = {.kind = FrameKind::announce, .tag = message.tag, .bytes = message.bytes, .id = id}});
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

void Wire::granted(Peer& to, std::uint64_t id) {
  const auto found = to.waiting.find(id);
  if (found == to.waiting.end()) return;
  Connection::Outgoing out = std::move(found->second);
  to.waiting.erase(found);
  auto& port = *static_cast<WirePort*>(out.port);
  const Ticket ticket = out.ticket;
  if (to.link->send(std::move(out))) complete(port, ticket, 0);
}

void Wire::report(const Connection::Outgoing& sent) {
  if (sent.port != nullptr) complete(*static_cast<WirePort*>(sent.port), sent.ticket, 0);
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
    for (auto& [id, receive] : other.granted) {
      if (!given_up(receive)) continue;
      receive.port = nullptr;
      ++taken;
    }
    if (other.current && given_up(*other.current)) {
      other.link->divert(throw_away(other, other.link->incoming()));
      other.current->port = nullptr;
      ++taken;
    }
    for (const auto& early : other.early) {
      if (!early->taker || !given_up(*early->taker)) continue;
      early->taker.reset();
      ++taken;
    }
  }
  return taken;
}

void Wire::tell(std::int32_t rank, const Notice& notice) {
  const std::lock_guard guard(lock_);
  over_.insert(notice.origin);
  for (auto& [other, from] : peers_) {
    std::erase_if(from.early,
                  [&](const auto& early) { return (early->whole || early->announced) && is_over(early->tag); });
  }
  Peer& to = peer(rank);
  if (!link_to(rank, to)) return;
  Connection::Outgoing out{
      .frame = {.kind = FrameKind::notice, .tag = notice.context, .id = static_cast<std::uint32_t>(notice.origin)}};
  if (to.link == nullptr) {
    to.held.push_back(std::move(out));
  } else if (!to.link->broken()) {
    to.link->send_soon(std::move(out));
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
  const auto found = std::ranges::find_if(
      from.early, [&](const auto& early) { return early->tag == message.tag && early->taker == nullptr; });
  if (found == from.early.end()) {
    if (from.link != nullptr && from.link->broken()) {
      *error = failure_;
      return true;
    }
    from.posted.push_back(std::move(receive));
    return false;
  }
  Early& early = **found;
  if (early.announced) {
    const std::uint64_t id = early.id;
    const std::uint64_t bytes = early.bytes;
    from.early.erase(found);
    if (bytes > message.bytes) {
      *error = too_long(bytes, message.bytes);
      return true;
    }
    grant(from, id, std::move(receive));
    if (from.link->broken()) lost(*from.link);
    return false;
  }
  if (!early.whole) {
    early.taker = std::make_unique<Posted>(std::move(receive));
    return false;
  }
  *error = deliver(early, receive);
  from.early.erase(found);
  return true;
}

int Wire::deliver(Early& early, Posted& receive) {
  if (early.bytes <= receive.message.bytes && early.bytes != 0) {
    std::memcpy(receive.room(), early.payload.data(), early.bytes);
  }
  return unpack(receive, early.bytes);
}

int Wire::too_long(std::uint64_t bytes, std::uint64_t room) {
  log::error("a message of %llu bytes came for a receive of %llu", static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(room));
  return failure_;
}

void Wire::grant(Peer& to, std::uint64_t id, Posted&& receive) {
  to.granted.emplace(id, std::move(receive));
  to.link->send_soon({.frame = {.kind = FrameKind::grant, .id = id}});
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
  if (frame.kind == FrameKind::payload) {
    const auto found = sender.granted.find(frame.id);
    if (found == sender.granted.end() || frame.bytes > found->second.message.bytes) return nullptr;
    sender.current = std::make_unique<Posted>(std::move(found->second));
    sender.granted.erase(found);
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
    auto early = std::make_unique<Early>();
    early->tag = frame.tag;
    early->bytes = frame.bytes;
    early->payload.resize(frame.bytes);
    sender.current_early = early.get();
    sender.early.push_back(std::move(early));
    return sender.current_early->payload.data();
  }
  sender.current = std::make_unique<Posted>(std::move(*found));
  sender.posted.erase(found);
  return frame.bytes <= sender.current->message.bytes ? sender.current->room() : throw_away(sender, frame.bytes);
}

bool Wire::arrived(Connection& from, const Frame& frame) {
  const bool secret = frame.bytes == secret_.low && frame.id == secret_.high;
  switch (frame.kind) {
    case FrameKind::hello:
      return !from.ours && from.rank < 0 && secret && frame.tag >= 0 && hello(from, frame.tag);
    case FrameKind::knock:
      if (from.ours || !secret) return false;
      from.named = true;
      greet(from, FrameKind::welcome);
      return true;
    case FrameKind::welcome:
      return from.ours && secret && welcome(from, frame.tag);
    case FrameKind::grant:
      if (from.open) granted(peer(from.rank), frame.id);
      return from.open;
    case FrameKind::notice:
      if (!from.open) return false;
      failures_.add({.from = from.rank, .origin = static_cast<std::int32_t>(frame.id), .context = frame.tag});
      return true;
    case FrameKind::announce:
      return from.open && announced(peer(from.rank), frame);
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
    Early& early = *std::exchange(sender.current_early, nullptr);
    early.whole = true;
    if (early.taker) complete(*early.taker->port, early.taker->ticket, deliver(early, *early.taker));
    if (early.taker || is_over(early.tag)) {
      std::erase_if(sender.early, [&](const auto& one) { return one.get() == &early; });
    }
  }
  return true;
}

bool Wire::announced(Peer& from, const Frame& frame) {
  const auto found = std::ranges::find_if(from.posted, [&](const Posted& one) { return one.message.tag == frame.tag; });
  if (found == from.posted.end()) {
    if (is_over(frame.tag)) return true;  // its sender is told
    auto early = std::make_unique<Early>();
    early->tag = frame.tag;
    early->bytes = frame.bytes;
    early->announced = true;
    early->id = frame.id;
    from.early.push_back(std::move(early));
    return true;
  }
  Posted receive = std::move(*found);
  from.posted.erase(found);
  if (frame.bytes > receive.message.bytes) {
    complete(*receive.port, receive.ticket, too_long(frame.bytes, receive.message.bytes));
  } else {
    grant(from, frame.id, std::move(receive));
  }
  return true;
}

}  // namespace urakata::transport
