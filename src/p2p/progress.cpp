// SPDX-License-Identifier: BSD-3-Clause
// How an endpoint moves on, and waits.
#include <new>

#include "base/waiting.hpp"
#include "p2p/endpoint.hpp"
#include "p2p/rendezvous.hpp"

namespace urakata::p2p {

namespace {

constexpr unsigned kStepMessages = 64;  // taken from the inbox in one step

// A receiver that polls for a message all the time takes the line from the sender that is about to write it. Where a
// message has come and many receives are still posted, more are on their way, and it polls less often.
constexpr std::size_t kStream = 4;  // posted receives
constexpr unsigned kRests = 8;      // pauses between two polls

}  // namespace

// Without the lock, and without a store: a rank that waits polls here all the time.
bool Endpoint::can_progress() const {
  return port_.inbox.peek() != nullptr || port_.assist.load(std::memory_order_relaxed) != nullptr ||
         signals_.listed() || (link_messages_ != nullptr && link_can_progress()) || port_.others_can_progress();
}

bool Endpoint::progress(const Request* awaited) {
  if (!can_progress()) {
    if (port_.inbox.owes()) {  // in the time of waiting
      const Guard guard(lock_);
      port_.inbox.give_back();
    }
    return false;
  }
  lock_.lock();
  const bool moved = step(awaited);
  if (lock_.unlock() && moved) port_.wake();  // requests of other threads may be done
  return moved;
}

void Endpoint::progress_if_free() {
  if (!(can_progress() || port_.inbox.owes()) || !lock_.try_lock()) return;
  const bool moved = step();
  port_.inbox.give_back();
  lock_.unlock();
  if (moved) port_.wake();
}

void Endpoint::progress_link_if_free() {
  if (!link_can_progress() || !lock_.try_lock()) return;
  const bool moved = step_link();
  lock_.unlock();
  if (moved) port_.wake();
}

bool Endpoint::step(const Request* awaited) {
  // First: a stream of the space ends the step early.
  bool moved = link_messages_ != nullptr && step_link();
  if (Pairs* const pairs = this->pairs(); pairs != nullptr && pairs->step()) {
    if (awaited != nullptr && awaited->done()) return true;
    moved = true;
  }
  for (unsigned i = 0; i < kStepMessages; ++i) {
    const Slot* slot = port_.inbox.peek();
    if (slot == nullptr) break;
    // Several have come: the one after the next is asked for while the next is read.
    if (i != 0) __builtin_prefetch(&port_.inbox.slot(port_.inbox.next() + 2));
    arrive(*slot);
    moved = true;
    // In a stream the next is likely to be there; else to poll for it would take its line from the sender.
    if (awaited != nullptr && awaited->done() && !signals_.streaming()) {
      note_stream();
      return true;
    }
  }
  if (lists_.any_pending()) moved = flush() || moved;
  if (port_.assist.load(std::memory_order_relaxed) != nullptr) {
    if (Request* send = port_.assist.exchange(nullptr, std::memory_order_acquire)) {
      help(*send);
      moved = true;
    }
  }
  if (lists_.any_finishing()) {
    lists_.take_finishing([&](Request& r) {
      lock_.assert_held();
      return finish_shared(r) && (moved = true);
    });
  }
  if (lists_.any_abandoned()) reap();
  lists_.tell(signals_);
  note_stream();
  return moved;
}

void Endpoint::reap() {
  lists_.take_abandoned([&](Request& r) {
    lock_.assert_held();
    if (!r.finished.load(std::memory_order_acquire)) return false;
    dispose(r);
    return true;
  });
}

void Endpoint::wait_long(Request& request) {
  // Without the lock: await() does nothing where several threads call.
  if (Pairs* const pairs = pairs_.load(std::memory_order_acquire)) {
    pairs->await(request);
    if (request.done()) return;
  }
  Backoff backoff(port_, backoff_settings_);
  // Tested last before a nap: what comes by the link after that wakes the rank.
  const auto ready = [&] { return request.done() || (link_messages_ != nullptr && link_can_progress()); };
  while (!request.done()) {
    if (progress(&request)) {
      backoff.restart();
    } else {
      const unsigned pauses = signals_.streaming() ? kRests : backoff_settings_.pauses;
      backoff.step(ready, pauses);
      if (backoff.tried()) set_aside(request);
    }
  }
}

void Endpoint::note_stream() { signals_.set_streaming(matching_.posted() >= kStream); }

void Endpoint::set_aside(Request& request) {
  const Guard guard(lock_);
  if (!request.movable || request.done()) return;
  if (request.packed.room == 0) {
    // The source stays what it is: the receiver may already be reading from it.
    try {
      request.packed = memory_.take(request.buffer.bytes());
    } catch (const std::bad_alloc&) {
      return;  // the sender waits for its receiver
    }
    move(request.source, {request.packed.get(), request.buffer.bytes(), nullptr}, 0, request.buffer.bytes());
  }
  if (request.queued) {  // nobody has seen it yet
    request.source = {request.packed.get(), request.buffer.bytes(), nullptr};
    request.form = Form::plain;
    request.movable = false;
    request.moved = true;
    return;
  }
  auto place = Request::Place::buffer;
  request.moved = request.place.compare_exchange_strong(place, Request::Place::moved, std::memory_order_acq_rel);
  request.movable = false;
}

}  // namespace urakata::p2p
