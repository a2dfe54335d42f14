// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/link_messages.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace urakata::p2p {

namespace {

// Only compared with tickets of requests that are under way, never followed.
LinkTicket ticket_of(const Request& request) { return LinkTicket{reinterpret_cast<std::uint64_t>(&request)}; }

// Payload bytes of a send, by its source: once that has been packed, the program may have freed the type.
std::uint64_t bytes_of(const Elements& elements) {
  return elements.count * (elements.shape != nullptr ? elements.shape->size() : 1);
}

}  // namespace

// --- the endpoint's side ---

// Here, where LinkMessages is complete.
Endpoint::Endpoint(Callers callers, const BackoffSettings& backoff_settings, const CopyingSettings& copying)
    : backoff_settings_(backoff_settings), copying_(copying), lock_(callers) {}
Endpoint::~Endpoint() = default;

void Endpoint::attach(Link& link) { link_messages_ = std::make_unique<LinkMessages>(*this, link); }

Request* Endpoint::send(LinkPeer to, const Envelope& envelope, const Buffer& buffer, Mode mode) {
  const Guard guard(lock_);
  return link_messages_->send(to, envelope, buffer, mode);
}

void Endpoint::fail_receives(std::uint32_t context, std::int32_t source) {
  const Guard guard(lock_);
  matching_.take_receives(context, source, [&](Request& receive) {
    lock_.assert_held();
    receive.result = {source, receive.envelope.tag, 0, Outcome::failed};
    finish(receive);
  });
}

void Endpoint::watch(std::uint32_t context, std::int32_t source, bool from_any, LinkPeer peer) {
  const Guard guard(lock_);
  if (matching_.awaits(context, source, from_any)) link_messages_->link.watch(peer);
}

bool Endpoint::lost(LinkPeer peer) {
  const Guard guard(lock_);
  return link_messages_->link.is_lost(peer);
}

Transfer Endpoint::transfer(const Request& request) {
  const Guard guard(lock_);
  return link_messages_->transfer(request);
}

bool Endpoint::link_can_progress() const { return link_messages_->can_progress(); }
bool Endpoint::step_link() { return link_messages_->step(); }
bool Endpoint::link_idle() const { return link_messages_ == nullptr || link_messages_->idle(); }
void Endpoint::deliver_link_message(Request& receive, Unexpected& message) {
  link_messages_->deliver(receive, message);
}

// --- sends ---

Request* Endpoint::LinkMessages::send(LinkPeer to, const Envelope& envelope, const Buffer& buffer, Mode mode) {
  assert_held();
  const std::uint64_t bytes = buffer.bytes();
  const bool broken = link.is_lost(to);
  const bool eager = bytes <= link.eager_bytes();
  const bool synchronous = mode == Mode::synchronous;
  if (!broken && eager && !synchronous && send_eager(to, envelope, buffer, kNoTicket)) return nullptr;

  Request& request = here_.new_request();
  request.is_send = true;
  request.movable = mode == Mode::standard && bytes <= here_.copying_.set_aside_most;
  request.tests = 0;
  request.buffer = buffer;
  request.envelope = envelope;
  request.peer = to;
  request.result = {};
  request.form = Form::plain;
  request.finished.store(false, std::memory_order_relaxed);
  if (broken) {
    request.result.outcome = Outcome::failed;
    request.queued = false;
    here_.finish(request);
    return &request;
  }
  request.queued = true;
  if (eager && synchronous && send_eager(to, envelope, buffer, ticket_of(request))) {
    request.source = {};
    rts_sent_.push(request);
    return &request;
  }
  if (bytes == 0) {
    request.source = {};
  } else if (buffer.needs_library() || mode == Mode::buffered) {
    here_.memory_.pack(request);
    request.moved = std::exchange(request.movable, false);
  } else {
    request.source = buffer.elements();
  }
  rts_sent_.push(request);
  link.send_rts(to, envelope, bytes, ticket_of(request), request.movable ? nullptr : &request.source);
  return &request;
}

// False: the link has no credit; nothing was sent.
bool Endpoint::LinkMessages::send_eager(LinkPeer to, const Envelope& envelope, const Buffer& buffer, LinkTicket send) {
  const std::uint64_t bytes = buffer.bytes();
  if (buffer.plain() || bytes == 0) return link.send_eager(to, envelope, buffer.address, bytes, send);
  Block packed = here_.memory_.take(bytes);
  buffer.layout->pack(buffer.address, 0, buffer.count, packed.get());
  const bool taken = link.send_eager(to, envelope, packed.get(), bytes, send);
  here_.memory_.give(std::move(packed));
  return taken;
}

bool Endpoint::LinkMessages::cts(LinkPeer from, LinkTicket send, LinkTicket receive, std::uint64_t bytes) {
  assert_held();
  Request* const request = rts_sent_.take(
      [&](const Request& r) { return ticket_of(r) == send && r.peer == from && bytes <= bytes_of(r.source); });
  if (request == nullptr) return false;
  request->movable = false;
  if (bytes == 0) {
    here_.finish(*request);
  } else {
    begin(*request, from, bytes);
    sending_.push(*request);
    link.send_payload(from, receive, request->source, bytes, send);
  }
  return true;
}

void Endpoint::LinkMessages::sent(LinkTicket send) {
  assert_held();
  if (Request* const request = sending_.take([&](const Request& r) { return ticket_of(r) == send; })) {
    end(*request);
    here_.finish(*request);
  }
}

// --- receives ---

// The oldest posted receive that a message matches, if there is one.
Request* Endpoint::LinkMessages::match(const Envelope& envelope) {
  Request* const receive = here_.matching_.take_receive(envelope);
  if (receive != nullptr) receive->result = {envelope.source, envelope.tag, 0, Outcome::good};
  return receive;
}

Unexpected& Endpoint::LinkMessages::keep(LinkPeer from, const Envelope& envelope, Kind kind, std::uint64_t bytes) {
  Unexpected& unexpected = here_.unexpected_.take_link_message(envelope, kind, bytes, from);
  here_.matching_.keep(unexpected);
  return unexpected;
}

void Endpoint::LinkMessages::eager(LinkPeer from, const Envelope& envelope, std::byte* payload, std::uint64_t bytes,
                                   LinkTicket send) {
  assert_held();
  if (Request* const receive = match(envelope)) {
    const bool later = receive->buffer.needs_library() && !may_unpack() && put_off(*receive, payload, bytes);
    if (!later) here_.memory_.store(*receive, payload, bytes);
    consumed(from, bytes, send);
    if (!later) here_.finish(*receive);
    return;
  }
  Unexpected& unexpected = keep(from, envelope, Kind::link_eager, bytes);
  unexpected.ticket = send;
  if (bytes > Unexpected::kSmall) unexpected.block = here_.memory_.take(bytes);
  std::copy_n(payload, bytes, unexpected.link_payload());
}

void Endpoint::LinkMessages::rts(LinkPeer from, const Envelope& envelope, std::uint64_t bytes, LinkTicket send) {
  assert_held();
  if (Request* const receive = match(envelope)) {
    accept(*receive, from, bytes, send);
  } else {
    keep(from, envelope, Kind::link_rts, bytes).ticket = send;
  }
}

void Endpoint::LinkMessages::deliver(Request& receive, Unexpected& message) {
  assert_held();
  const LinkPeer from = message.peer;
  const std::uint64_t bytes = message.bytes;
  const LinkTicket ticket = message.ticket;
  const bool eager = message.kind == Kind::link_eager;
  if (eager) {
    here_.memory_.store(receive, message.link_payload(), bytes);
    here_.memory_.give(std::exchange(message.block, {}));
  }
  here_.unexpected_.give(message);
  if (!eager) return accept(receive, from, bytes, ticket);
  consumed(from, bytes, ticket);
  here_.finish(receive);
}

// An eager message that a receive has matched.
void Endpoint::LinkMessages::consumed(LinkPeer from, std::uint64_t bytes, LinkTicket send) {
  link.consumed(from, bytes);
  if (send != kNoTicket && !link.is_lost(from)) link.send_cts(from, send, kNoTicket, {}, 0);
}

// A receive that an RTS has matched.
void Endpoint::LinkMessages::accept(Request& receive, LinkPeer from, std::uint64_t bytes, LinkTicket send) {
  if (link.is_lost(from)) {
    receive.result.outcome = Outcome::failed;
    return here_.finish(receive);
  }
  const Buffer& buffer = receive.buffer;
  const std::uint64_t wanted = std::min(bytes, buffer.bytes());
  if (wanted < bytes) receive.result.outcome = Outcome::truncated;
  receive.result.bytes = wanted;
  Elements target;
  if (wanted != 0 && buffer.needs_library()) {
    receive.packed = here_.memory_.take(wanted);
    target = {receive.packed.get(), wanted, nullptr};
  } else if (wanted != 0) {
    target = buffer.elements();
  }
  link.send_cts(from, send, ticket_of(receive), target, wanted);
  if (wanted == 0) return here_.finish(receive);
  begin(receive, from, wanted);
  receiving_.push(receive);
}

void Endpoint::LinkMessages::received(LinkTicket ticket) {
  assert_held();
  Request* const receive = receiving_.take([&](const Request& r) { return ticket_of(r) == ticket; });
  if (receive == nullptr) return;
  end(*receive);
  if (receive->packed.room == 0) return here_.finish(*receive);
  if (may_unpack()) {
    unpack(*receive);
  } else {
    put_off(*receive);
  }
}

// Copies an eager payload aside, to be unpacked later. False: no byte is wanted, so the caller ends the receive.
bool Endpoint::LinkMessages::put_off(Request& receive, const std::byte* payload, std::uint64_t bytes) {
  const std::uint64_t wanted = std::min(bytes, receive.buffer.bytes());
  if (wanted == 0) return false;
  receive.packed = here_.memory_.take(wanted);
  std::copy_n(payload, wanted, receive.packed.get());
  receive.result.bytes = wanted;
  if (wanted < bytes) receive.result.outcome = Outcome::truncated;
  put_off(receive);
  return true;
}

void Endpoint::LinkMessages::put_off(Request& receive) {
  to_unpack_.push(receive);
  any_to_unpack_.store(true, std::memory_order_relaxed);
}

bool Endpoint::LinkMessages::unpack_put_off() {
  if (to_unpack_.empty()) return false;
  any_to_unpack_.store(false, std::memory_order_relaxed);
  to_unpack_.take_all([&](Request& receive) {
    assert_held();
    unpack(receive);
    return true;
  });
  return true;
}

void Endpoint::LinkMessages::unpack(Request& receive) {
  here_.memory_.copy_in(receive, {receive.packed.get(), receive.result.bytes, nullptr});
  here_.finish(receive);
}

// --- the payload begins and ends ---

void Endpoint::LinkMessages::begin(Request& request, LinkPeer peer, std::uint64_t bytes) {
  request.peer = peer;
  request.transfer = {.met = now_ns(), .bytes = bytes};
  request.timed = true;
}

void Endpoint::LinkMessages::end(Request& request) {
  request.transfer.over = now_ns();
  request.transfer.moved = request.transfer.bytes;
}

Transfer Endpoint::LinkMessages::transfer(const Request& request) const {
  if (!request.timed) return {};
  Transfer found = request.transfer;
  if (found.over == 0) found.moved = link.moved(request.peer, ticket_of(request), request.is_send);
  return found;
}

// --- progress and failure ---

// Receives in to_unpack_ have their payload, and end well.
void Endpoint::LinkMessages::failed(LinkPeer peer) {
  assert_held();
  for (Queue<Request>* queue : {&rts_sent_, &sending_, &receiving_}) {
    queue->take_all([&](Request& request) {
      if (request.peer != peer) return false;
      request.result.outcome = Outcome::failed;
      assert_held();
      here_.finish(request);
      return true;
    });
  }
}

}  // namespace urakata::p2p
