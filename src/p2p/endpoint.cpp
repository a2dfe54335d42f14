// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/endpoint.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "p2p/message_slots.hpp"
#include "p2p/rendezvous.hpp"

namespace urakata::p2p {

namespace {

Rts rts_in(const Slot& slot) {
  Rts rts;
  std::memcpy(&rts, slot.first.payload, sizeof rts);
  return rts;
}

}  // namespace

// --- sends ---

Request* Endpoint::send(Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode) {
  const Guard guard(lock_);
  return send_unpaired(to, envelope, buffer, mode);
}

Request* Endpoint::send_unpaired(Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode) {
  if (Pairs* const pairs = this->pairs(); pairs != nullptr && pairs->sends_to(to)) pairs->before_send(to, envelope);
  const std::uint64_t bytes = buffer.bytes();
  const bool whole = bytes > kEager || mode == Mode::synchronous;
  bool behind = false;
  if (lists_.any_pending()) {
    if (flush()) port_.wake();  // another thread's send may be done
    behind = lists_.pending_to(to);
  }
  if (!whole && !behind) {
    std::array<std::byte, kEager> packed;
    const std::byte* payload = buffer.address;
    if (!buffer.plain() && bytes != 0) {
      buffer.layout->pack(buffer.address, 0, buffer.count, packed.data());
      payload = packed.data();
    }
    if (outbound_.send_eager(to, envelope, payload, bytes)) return nullptr;
  }

  Request& request = make_send(to, envelope, buffer, mode, whole);
  launch(request);
  return &request;
}

// Makes the request of a send that no other rank knows yet.
Request& Endpoint::make_send(Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode, bool whole,
                             bool asks) {
  Request& request = new_request();
  request.is_send = true;
  request.whole = whole;
  request.queued = false;
  request.end = nullptr;
  request.movable = mode == Mode::standard && buffer.bytes() <= copying_.set_aside_most;
  request.tests = 0;
  request.place.store(Request::Place::buffer, std::memory_order_relaxed);
  request.buffer = buffer;
  request.envelope = envelope;
  request.to = &to;
  request.result.outcome = Outcome::good;
  request.finished.store(false, std::memory_order_relaxed);
  try {
    prepare(request, mode, asks);
  } catch (const std::bad_alloc&) {  // it must be packed, and cannot be
    request.result.outcome = Outcome::failed;
    request.movable = request.queued = false;
    finish(request);
    return request;
  }
  if (request.movable && request.packed.room != 0) {  // packed it is set aside already
    request.movable = false;
    request.moved = true;
  }
  return request;
}

void Endpoint::launch(Request& send) {
  if (send.result.outcome == Outcome::failed) return;  // it could not be packed
  if (lists_.pending_to(*send.to) || !push(send)) {
    send.queued = true;
    lists_.add_pending(send, signals_);
  }
  if (send.form == Form::packing) pack_on(send, copying_.pieces);
}

Rts Endpoint::rts_of(Request& send) {
  const std::uint64_t bytes = send.source.count * (send.form == Form::shaped ? send.source.shape->size() : 1);
  return {&send, &port_, send.source.address, bytes, send.form, send.movable, send.unassisted, send.end != nullptr};
}

// Fills slots for a send of the list, or returns false.
bool Endpoint::push(Request& send) {
  if (!send.whole) {
    if (!outbound_.send_eager(*send.to, send.envelope, send.source.address, send.source.count)) return false;
    send.queued = false;
    finish(send);
    return true;
  }
  std::uint64_t position = 0;
  if (!send.to->inbox.claim(1, &position)) return false;
  const Rts rts = rts_of(send);
  std::array<std::byte, sizeof rts> payload;
  std::memcpy(payload.data(), &rts, sizeof rts);
  Port& to = *send.to;
  send.queued = false;
  if (send.abandoned) lists_.add_abandoned(send, signals_);
  fill(to.inbox, position, 1, outbound_.number(), send.envelope, Kind::rendezvous, payload.data(), payload.size(),
       false);
  to.wake();
  return true;
}

bool Endpoint::flush() {
  return lists_.take_pending([&](Request& send) {
    lock_.assert_held();
    return push(send);
  });
}

// --- receives ---

bool Endpoint::match_unexpected(Request& receive) {
  Unexpected* found = matching_.take_message(receive.envelope);
  if (found != nullptr) deliver(receive, *found);
  return found != nullptr;
}

Request& Endpoint::receive(Unexpected& message, const Buffer& buffer) {
  const Guard guard(lock_);
  Request& request = new_request();
  request.is_send = false;
  request.buffer = buffer;
  request.finished.store(false, std::memory_order_relaxed);
  deliver(request, message);
  return request;
}

void Endpoint::arrive(const Slot& slot) {
  outbound_.note_arrival();
  if (Pairs* const pairs = this->pairs(); pairs != nullptr && pairs->receives_from(slot.first.envelope.source)) {
    pairs->before_arrival(slot.first.envelope, slot.first.order);
  }
  Request* const receive = matching_.take_receive(slot.first.envelope);
  if (receive != nullptr) {
    deliver(*receive, slot);
  } else {
    matching_.keep(keep(slot));
    port_.inbox.pop(slot.first.slots());
  }
}

Unexpected& Endpoint::keep(const Slot& slot) {
  Unexpected& unexpected =
      unexpected_.take(slot.first.envelope, slot.first.kind(), slot.first.order, slot.first.bytes());
  if (unexpected.kind == Kind::eager) {
    gather(port_.inbox, slot, unexpected.payload(), unexpected.bytes);
  } else {
    unexpected.rts = rts_in(slot);
    unexpected.bytes = unexpected.rts.bytes;
  }
  return unexpected;
}

// The inbox's oldest message into a receive.
void Endpoint::deliver(Request& receive, const Slot& slot) {
  receive.result = {slot.first.envelope.source, slot.first.envelope.tag, 0, Outcome::good};
  if (slot.first.kind() == Kind::rendezvous) {
    const Rts rts = rts_in(slot);
    port_.inbox.pop(1);
    pull(receive, rts);
    return;
  }
  const std::uint64_t bytes = slot.first.bytes();
  if (receive.buffer.plain() && bytes <= receive.buffer.bytes()) {
    gather(port_.inbox, slot, receive.buffer.address, bytes);
    receive.result.bytes = bytes;
  } else {
    std::array<std::byte, kEager> payload;
    gather(port_.inbox, slot, payload.data(), bytes);
    memory_.store(receive, payload.data(), bytes);
  }
  port_.inbox.pop(slot.first.slots());
  finish(receive);
}

void Endpoint::deliver(Request& receive, Unexpected& message) {
  receive.result = {message.envelope.source, message.envelope.tag, 0, Outcome::good};
  if (message.kind == Kind::eager) {
    memory_.store(receive, message.payload(), message.bytes);
    unexpected_.give(message);
    finish(receive);
  } else if (message.kind == Kind::rendezvous) {
    const Rts rts = message.rts;
    unexpected_.give(message);
    pull(receive, rts);
  } else {
    deliver_link_message(receive, message);
  }
}

// --- probes and cancels ---

void Endpoint::prepare_probe(const Envelope& pattern) {
  if (Pairs* const pairs = this->pairs(); pairs != nullptr && pairs->receives_from(pattern.source)) {
    pairs->before_receive(pattern);
  }
  if (step()) port_.wake();  // requests of other threads may be done
}

bool Endpoint::probe(const Envelope& pattern, Result* found) {
  const Guard guard(lock_);
  prepare_probe(pattern);
  const Unexpected* const message = matching_.find(pattern);
  if (message != nullptr) *found = {message->envelope.source, message->envelope.tag, message->bytes, Outcome::good};
  return message != nullptr;
}

Unexpected* Endpoint::take(const Envelope& pattern, Result* found) {
  const Guard guard(lock_);
  prepare_probe(pattern);
  Unexpected* const message = matching_.take_message(pattern);
  if (message != nullptr) *found = {message->envelope.source, message->envelope.tag, message->bytes, Outcome::good};
  return message;
}

bool Endpoint::cancel(Request& request) {
  const Guard guard(lock_);
  if (request.persistent != nullptr) pairs()->end(*request.persistent, nullptr);
  if (!matching_.take_back(request)) return false;
  request.result = {kAnySource, kAnyTag, 0, Outcome::cancelled};
  finish(request);
  return true;
}

bool Endpoint::posted(const Request& request) {
  const Guard guard(lock_);
  return request.posted;
}

bool Endpoint::withdraw(Request& request) {
  const Guard guard(lock_);
  return matching_.take_back(request);
}

void Endpoint::discard(Request& request) {
  const Guard guard(lock_);
  dispose(request);
}

void Endpoint::restore(Request& request) {
  const Guard guard(lock_);
  match(request);
}

// --- the life of requests ---

void Endpoint::finish(Request& request) {
  if (request.abandoned) {
    dispose(request);
  } else {
    request.finished.store(true, std::memory_order_release);
  }
}

// Gives back a request that is finished or withdrawn, and everything that it still holds.
void Endpoint::dispose(Request& request) {
  memory_.give_of(request);
  if (request.release_layout != nullptr) std::exchange(request.release_layout, nullptr)(request);
  recycle(request);
}

void Endpoint::release_with_care(Request& request, void (*release_layout)(const Request&)) {
  request.release_layout = release_layout;
  if (request.finished.load(std::memory_order_acquire)) {
    dispose(request);
    return;
  }
  request.abandoned = true;
  // A rendezvous whose RTS has left is in no queue, and the receiver finishes it.
  if (request.is_send && !request.queued) lists_.add_abandoned(request, signals_);
}

}  // namespace urakata::p2p
