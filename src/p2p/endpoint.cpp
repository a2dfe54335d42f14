#include "p2p/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "p2p/message_cells.hpp"

namespace urakata::p2p {

namespace {

Offer offer_in(const Cell& cell) {
  Offer offer;
  std::memcpy(&offer, cell.first.payload, sizeof offer);
  return offer;
}

}  // namespace

// --- sends ---

bool Endpoint::pending_to(const Port& to) const {
  for (const Request* request = pending_.first(); request != nullptr; request = request->next) {
    if (request->to == &to) return true;
  }
  return false;
}

Request* Endpoint::send(Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode) {
  const Guard guard(turn_);
  const std::uint64_t bytes = buffer.bytes();
  const bool whole = bytes > kEager || mode == Mode::synchronous;
  bool behind = false;
  if (!pending_.empty()) {
    if (flush()) port_.wake();  // another thread's send may be done
    behind = pending_to(to);
  }
  if (!whole && !behind) {
    std::array<std::byte, kEager> packed;
    const std::byte* payload = buffer.address;
    if (!buffer.plain() && bytes != 0) {
      buffer.layout->pack(buffer.address, 0, buffer.count, packed.data());
      payload = packed.data();
    }
    if (eager_at_once(to, envelope, payload, bytes)) return nullptr;
  }

  Request& request = new_request();
  request.is_send = true;
  request.whole = whole;
  request.movable = mode == Mode::standard && bytes <= kMovable;
  request.looks = 0;
  request.place.store(Request::Place::buffer, std::memory_order_relaxed);
  request.buffer = buffer;
  request.envelope = envelope;
  request.to = &to;
  request.finished.store(false, std::memory_order_relaxed);
  prepare(request, mode);
  if (request.movable && request.packed.room != 0) {  // packed it is set aside already
    request.movable = false;
    request.moved = true;
  }
  if (behind || !push(request)) {
    request.queued = true;
    list(pending_, request);
  }
  if (request.form == Form::packing) pack_on(request);
  return &request;
}

// Fills cells for a send of the list, or returns false.
bool Endpoint::push(Request& send) {
  if (!send.whole) {
    if (!eager_at_once(*send.to, send.envelope, send.source.address, send.source.count)) return false;
    send.queued = false;
    finish(send);
    return true;
  }
  std::uint64_t position = 0;
  if (!send.to->inbox.claim(1, &position)) return false;
  const std::uint64_t bytes = send.source.count * (send.form == Form::shaped ? send.source.shape->size() : 1);
  const Offer offer{&send, &port_, send.source.address, bytes, send.form, send.movable};
  std::array<std::byte, sizeof offer> payload;
  std::memcpy(payload.data(), &offer, sizeof offer);
  Port& to = *send.to;
  send.queued = false;
  if (send.abandoned) list(abandoned_, send);
  fill(to.inbox, position, 1, send.envelope, Kind::rendezvous, payload.data(), payload.size(), false);
  to.wake();
  return true;
}

// A full inbox blocks later sends to it, and no others.
bool Endpoint::flush() {
  std::array<const Port*, 16> full;
  std::size_t blocked = 0;
  bool moved = false;
  pending_.take_all([&](Request& send) {
    if (blocked == full.size()) return false;  // too many to tell apart: the rest waits
    if (std::find(full.begin(), full.begin() + blocked, send.to) != full.begin() + blocked) return false;
    if (!push(send)) {
      full[blocked++] = send.to;
      return false;
    }
    moved = true;
    return true;
  });
  return moved;
}

// --- receives ---

bool Endpoint::match_unexpected(Request& receive) {
  Arrival* found = unexpected_.take([&](const Arrival& a) { return matches(receive.envelope, a.envelope); });
  if (found != nullptr) deliver(receive, *found);
  return found != nullptr;
}

Request& Endpoint::receive(Arrival& message, const Buffer& buffer) {
  const Guard guard(turn_);
  Request& request = new_request();
  request.is_send = false;
  request.buffer = buffer;
  request.finished.store(false, std::memory_order_relaxed);
  deliver(request, message);
  return request;
}

void Endpoint::arrive(const Cell& cell) {
  sent_last_ = false;
  Request* receive = posted_.take([&](const Request& r) { return matches(r.envelope, cell.first.envelope); });
  if (receive != nullptr) {
    receive->posted = false;
    deliver(*receive, cell);
  } else {
    unexpected_.push(keep(cell));
    port_.inbox.pop(cell.first.cells);
  }
}

Arrival& Endpoint::keep(const Cell& cell) {
  const bool eager = cell.first.kind == Kind::eager;
  const bool large = eager && cell.first.bytes > Arrival::kSmall;
  Arrival& arrival = large ? large_arrivals_.take() : small_arrivals_.take();
  arrival.envelope = cell.first.envelope;
  arrival.kind = cell.first.kind;
  if (eager) {
    if (large && arrival.large == nullptr) arrival.large = std::make_unique<std::byte[]>(kEager);
    arrival.bytes = cell.first.bytes;
    gather(port_.inbox, cell, arrival.payload(), arrival.bytes);
  } else {
    arrival.offer = offer_in(cell);
    arrival.bytes = arrival.offer.bytes;
  }
  return arrival;
}

// The inbox's oldest message into a receive.
void Endpoint::deliver(Request& receive, const Cell& cell) {
  receive.result = {cell.first.envelope.source, cell.first.envelope.tag, 0, Outcome::good};
  if (cell.first.kind == Kind::rendezvous) {
    const Offer offer = offer_in(cell);
    port_.inbox.pop(1);
    pull(receive, offer);
    return;
  }
  const std::uint64_t bytes = cell.first.bytes;
  if (receive.buffer.plain() && bytes <= receive.buffer.bytes()) {
    gather(port_.inbox, cell, receive.buffer.address, bytes);
    receive.result.bytes = bytes;
  } else {
    std::array<std::byte, kEager> payload;
    gather(port_.inbox, cell, payload.data(), bytes);
    store(receive, payload.data(), bytes);
  }
  port_.inbox.pop(cell.first.cells);
  finish(receive);
}

void Endpoint::deliver(Request& receive, Arrival& message) {
  receive.result = {message.envelope.source, message.envelope.tag, 0, Outcome::good};
  const Offer offer = message.offer;
  const bool eager = message.kind == Kind::eager;
  if (eager) store(receive, message.payload(), message.bytes);
  (message.large != nullptr ? large_arrivals_ : small_arrivals_).give(message);
  if (eager) {
    finish(receive);
  } else {
    pull(receive, offer);
  }
}

// As much of an eager payload as the receive has room for.
void Endpoint::store(Request& receive, std::byte* payload, std::uint64_t bytes) {
  const std::uint64_t room = receive.buffer.bytes();
  if (bytes > room) receive.result.outcome = Outcome::truncated;
  receive.result.bytes = std::min(bytes, room);
  copy_in(receive, {payload, bytes, nullptr});
}

// --- probes and cancels ---

bool Endpoint::probe(const Envelope& pattern, Result* found) {
  const Guard guard(turn_);
  if (step()) port_.wake();  // requests of other threads may be done
  for (const Arrival* a = unexpected_.first(); a != nullptr; a = a->next) {
    if (!matches(pattern, a->envelope)) continue;
    *found = {a->envelope.source, a->envelope.tag, a->bytes, Outcome::good};
    return true;
  }
  return false;
}

Arrival* Endpoint::take(const Envelope& pattern, Result* found) {
  const Guard guard(turn_);
  if (step()) port_.wake();  // requests of other threads may be done
  Arrival* message = unexpected_.take([&](const Arrival& a) { return matches(pattern, a.envelope); });
  if (message != nullptr) *found = {message->envelope.source, message->envelope.tag, message->bytes, Outcome::good};
  return message;
}

bool Endpoint::cancel(Request& request) {
  const Guard guard(turn_);
  if (!take_back(request)) return false;
  request.result = {kAnySource, kAnyTag, 0, Outcome::cancelled};
  finish(request);
  return true;
}

bool Endpoint::posted(const Request& request) {
  const Guard guard(turn_);
  return request.posted;
}

bool Endpoint::withdraw(Request& request) {
  const Guard guard(turn_);
  return take_back(request);
}

void Endpoint::discard(Request& request) {
  const Guard guard(turn_);
  dispose(request);
}

void Endpoint::restore(Request& request) {
  const Guard guard(turn_);
  match(request);
}

bool Endpoint::take_back(Request& request) {
  if (!request.posted) return false;
  posted_.take([&](const Request& r) { return &r == &request; });
  request.posted = false;
  return true;
}

// --- the life of requests ---

void Endpoint::finish(Request& request) {
  if (request.abandoned) {
    dispose(request);
  } else {
    request.finished.store(true, std::memory_order_release);
  }
}

// Everything that a finished request may still hold.
void Endpoint::dispose(Request& request) {
  if (request.packed.room != 0) spare_.give(std::exchange(request.packed, {}));
  if (request.let_go != nullptr) std::exchange(request.let_go, nullptr)(request);
  recycle(request);
}

void Endpoint::release_with_care(Request& request, void (*let_go)(const Request&)) {
  request.let_go = let_go;
  if (request.finished.load(std::memory_order_acquire)) {
    dispose(request);
    return;
  }
  request.abandoned = true;
  // A rendezvous that is on its way is in no queue, and it is the receiver who finishes it.
  if (request.is_send && !request.queued) list(abandoned_, request);
}

}  // namespace urakata::p2p
