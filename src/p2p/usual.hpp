// The usual way of a small message through an endpoint, inline: its calls are measured in nanoseconds, and arguments
// that are handed on in memory make the processor wait for its own stores.
#pragma once

#include "p2p/endpoint.hpp"
#include "p2p/message_cells.hpp"

namespace urakata::p2p {

[[gnu::always_inline]] inline bool Endpoint::eager_at_once(Port& to, const Envelope& envelope, const std::byte* payload,
                                                           std::uint64_t bytes) {
  const std::uint32_t cells = cells_for(bytes);
  std::uint64_t position = 0;
  if (!to.inbox.claim(cells, &position)) return false;
  fill(to.inbox, position, cells, envelope, Kind::eager, payload, bytes, sent_last_);
  sent_last_ = true;
  to.wake();
  return true;
}

[[gnu::always_inline]] inline bool Endpoint::send_at_once(Port& to, const Envelope& envelope, const Buffer& buffer) {
  if (buffer.layout != nullptr || buffer.count > kEager) return false;
  const Guard guard(turn_);
  return pending_.empty() && eager_at_once(to, envelope, buffer.address, buffer.count);
}

[[gnu::always_inline]] inline Request& Endpoint::receive(const Envelope& pattern, const Buffer& buffer) {
  const Guard guard(turn_);
  Request& request = new_request();
  request.is_send = false;
  request.buffer.address = buffer.address;
  request.buffer.count = buffer.count;
  request.buffer.layout = buffer.layout;
  request.envelope.context = pattern.context;
  request.envelope.source = pattern.source;
  request.envelope.tag = pattern.tag;
  request.finished.store(false, std::memory_order_relaxed);
  match(request);
  return request;
}

// The oldest message, once there is one; nullptr where it takes long or there is other work.
inline const Cell* Endpoint::soon_here() {
  constexpr unsigned kMostLooks = 256;   // without pauses some 400 ns, the time of a far rank's answer
  constexpr unsigned kMostPauses = 128;  // 1 to 8 us
  const std::uint64_t position = port_.inbox.next();
  const Cell& cell = port_.inbox.cell(position);
  const std::uint32_t lap = Inbox::lap(position);
  const auto here = [&] { return cell.stamp.load(std::memory_order_acquire) == lap; };
  if (here()) return &cell;
  port_.inbox.give_back();  // in the time of waiting
  unsigned looks = manners_.pauses == 0 ? kMostLooks : kMostPauses / manners_.pauses;
  if (manners_.oversubscribed) looks = 0;
  for (; looks != 0; --looks) {
    rest(manners_.pauses);
    if (here()) return &cell;
    if (port_.offered.load(std::memory_order_relaxed) != nullptr || listed_.load(std::memory_order_relaxed)) break;
  }
  return nullptr;
}

[[gnu::always_inline]] inline bool Endpoint::receive_at_once(const Envelope& pattern, const Buffer& buffer,
                                                             Result* result) {
  if (buffer.layout != nullptr || turn_.contended()) return false;
  const Guard guard(turn_);
  if (!posted_.empty() || !unexpected_.empty()) return false;
  const Cell* const cell = soon_here();
  if (cell == nullptr || cell->first.kind != Kind::eager || cell->first.bytes > buffer.count ||
      !matches(pattern, cell->first.envelope)) {
    return false;
  }
  *result = {cell->first.envelope.source, cell->first.envelope.tag, cell->first.bytes, Outcome::good};
  gather(port_.inbox, *cell, buffer.address, cell->first.bytes);
  port_.inbox.pop(cell->first.cells);
  sent_last_ = false;
  return true;
}

inline void Endpoint::match(Request& receive) {
  if (!unexpected_.empty() && match_unexpected(receive)) return;
  receive.posted = true;
  posted_.push(receive);
}

inline Request& Endpoint::new_request() {
  open_.store(open_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  Request& request = requests_.take();
  request.movable = false;  // it may have been a send
  return request;
}

[[gnu::always_inline]] inline void Endpoint::release(Request& request, void (*let_go)(const Request&)) {
  const Guard guard(turn_);
  if (request.finished.load(std::memory_order_acquire) && request.packed.room == 0 && let_go == nullptr) {
    recycle(request);
  } else {
    release_with_care(request, let_go);
  }
}

inline void Endpoint::recycle(Request& request) {
  request.abandoned = false;
  request.moved = false;
  requests_.give(request);
  open_.store(open_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

}  // namespace urakata::p2p
