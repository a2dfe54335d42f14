// SPDX-License-Identifier: BSD-3-Clause
// The fast path of a small message through an endpoint, inline: its calls are measured in nanoseconds, and arguments
// that are handed on in memory make the processor wait for its own stores.
#pragma once

#include "p2p/endpoint.hpp"
#include "p2p/message_slots.hpp"
#include "p2p/pairs.hpp"

namespace urakata::p2p {

[[gnu::always_inline]] inline bool Endpoint::send_at_once(Port& to, const Envelope& envelope, const Buffer& buffer) {
  if (buffer.layout != nullptr || buffer.count > kEager) return false;
  const Guard guard(lock_);
  if (const Pairs* const pairs = this->pairs(); pairs != nullptr && pairs->sends_to(to)) return false;
  return !lists_.any_pending() && outbound_.send_eager(to, envelope, buffer.address, buffer.count);
}

[[gnu::always_inline]] inline Request& Endpoint::receive(const Envelope& pattern, const Buffer& buffer) {
  const Guard guard(lock_);
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
inline const Slot* Endpoint::soon_here() {
  constexpr unsigned kMostPolls = 256;   // without pauses some 400 ns, the time of a far rank's answer
  constexpr unsigned kMostPauses = 128;  // 1 to 8 us
  const std::uint64_t position = port_.inbox.next();
  const Slot& slot = port_.inbox.slot(position);
  const std::uint32_t sequence = Inbox::sequence(position);
  const auto here = [&] { return slot.stamp.load(std::memory_order_acquire) == sequence; };
  if (here()) return &slot;
  port_.inbox.give_back();  // in the time of waiting
  unsigned polls = backoff_settings_.pauses == 0 ? kMostPolls : kMostPauses / backoff_settings_.pauses;
  if (backoff_settings_.oversubscribed) polls = 0;
  for (; polls != 0; --polls) {
    rest(backoff_settings_.pauses);
    if (here()) return &slot;
    if (port_.assist.load(std::memory_order_relaxed) != nullptr || signals_.listed()) break;
  }
  return nullptr;
}

[[gnu::always_inline]] inline bool Endpoint::receive_at_once(const Envelope& pattern, const Buffer& buffer,
                                                             Result* result) {
  if (buffer.layout != nullptr || lock_.contended()) return false;
  const Guard guard(lock_);
  if (!matching_.empty()) return false;
  if (const Pairs* const pairs = this->pairs(); pairs != nullptr && pairs->receives_from(pattern.source)) return false;
  const Slot* const slot = soon_here();
  if (slot == nullptr || slot->first.kind() != Kind::eager || slot->first.bytes() > buffer.count ||
      !matches(pattern, slot->first.envelope)) {
    return false;
  }
  *result = {slot->first.envelope.source, slot->first.envelope.tag, slot->first.bytes(), Outcome::good};
  gather(port_.inbox, *slot, buffer.address, slot->first.bytes());
  port_.inbox.pop(slot->first.slots());
  outbound_.note_arrival();
  return true;
}

inline void Endpoint::match(Request& receive) {
  Pairs* const pairs = this->pairs();
  if (pairs != nullptr && pairs->receives_from(receive.envelope.source)) pairs->before_receive(receive.envelope);
  if (matching_.any_unexpected() && match_unexpected(receive)) return;
  matching_.post(receive);
}

inline Request& Endpoint::new_request() {
  signals_.count_open(1);
  Request& request = requests_.take();
  request.movable = false;  // it may have been a send
  request.timed = false;
  return request;
}

[[gnu::always_inline]] inline void Endpoint::release(Request& request, void (*release_layout)(const Request&)) {
  const Guard guard(lock_);
  if (request.finished.load(std::memory_order_acquire) && request.packed.room == 0 && release_layout == nullptr) {
    recycle(request);
  } else {
    release_with_care(request, release_layout);
  }
}

inline void Endpoint::release(Persistent& receive, Request& request) {
  {
    const Guard guard(lock_);
    if (pairs()->keeps(receive, request)) return;
    request.persistent = nullptr;
  }
  release(request);
}

inline void Endpoint::recycle(Request& request) {
  request.abandoned = false;
  request.moved = false;
  requests_.give(request);
  signals_.count_open(-1);
}

}  // namespace urakata::p2p
