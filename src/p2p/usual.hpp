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
