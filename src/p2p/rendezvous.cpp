// SPDX-License-Identifier: BSD-3-Clause
// Rendezvous: how a payload gets from the sender's elements into the receiver's.
#include "p2p/rendezvous.hpp"

#include <algorithm>
#include <new>

#include "base/waiting.hpp"
#include "p2p/endpoint.hpp"
#include "p2p/pieces.hpp"
#include "p2p/prefetch.hpp"

namespace urakata::p2p {

namespace {

Elements payload_of(const Rts& rts) {
  return rts.form == Form::shaped ? rts.request->source : Elements{rts.address, rts.bytes, nullptr};
}

// Claims one more piece for the calling rank. False: all are claimed. The receiver takes pieces from the front and the
// sender from the back, so that each has a part of its own, and they meet in at most one line of memory where the
// payload lies in one piece.
bool claim_piece(Request& send) {
  return send.claimed.fetch_add(1, std::memory_order_relaxed) < pieces_of(send.shared_bytes, send.piece);
}

bool worth_sharing(const Request& receive, const Rts& rts, const CopyingSettings& copying) {
  const std::uint64_t bytes = receive.result.bytes;
  if (rts.unassisted || bytes < copying.share_from || receive.buffer.needs_library()) return false;
  // A sender that has packed all unpacks, too, where there is enough of it.
  if (rts.form == Form::packing && bytes < 2 * copying.share_from) return false;
  if (copying.always) return *copying.always != Copying::receiver;
  if (rts.form == Form::shaped) {
    return choose_copying(rts.request->source, bytes, copying, false) == Copying::both;
  }
  return !receive.buffer.plain() || bytes >= copying.share_plain_from;
}

}  // namespace

// --- at the sender ---

bool Endpoint::exchanging() const {
  const Pairs* const pairs = this->pairs();
  return matching_.any_posted() || (pairs != nullptr && pairs->waits());
}

// Settles where the payload of a new send lies for the ranks that will copy it.
void Endpoint::prepare(Request& send, Mode mode, bool asks) {
  const Buffer& buffer = send.buffer;
  const bool exchange = exchanging();
  send.form = Form::plain;
  send.unassisted = false;
  if (buffer.bytes() == 0) {
    send.source = {};
    return;
  }
  if (buffer.needs_library() || mode == Mode::buffered || (!send.whole && !buffer.plain())) {
    memory_.pack(send);
    return;
  }
  send.source = buffer.elements();
  if (exchange && send.movable && send.whole && !asks && send.to != &port_ && !copying_.always &&
      buffer.bytes() <= copying_.exchange_most && copy_aside(send)) {
    return;
  }
  if (buffer.plain()) return;
  if (copying_.always.value_or(choose_copying(send.source, buffer.bytes(), copying_, exchange)) != Copying::sender) {
    send.form = Form::shaped;
  } else if (buffer.bytes() < copying_.share_from) {
    memory_.pack(send);
  } else {
    memory_.set_packed(send);
    send.ready.store(0, std::memory_order_relaxed);
    send.form = Form::packing;
  }
}

// False: there is no memory for a copy, or there are as many as there may be. A program that waits for some message and
// sends others would never be held up by who receives them.
bool Endpoint::copy_aside(Request& send) try {
  const std::uint64_t bytes = send.buffer.bytes();
  if (!memory_.room_aside(bytes)) reap();
  if (!memory_.room_aside(bytes)) return false;
  memory_.copy_aside(send);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void pack_on(Request& send, const PieceSizes& sizes) {
  const Elements elements = send.buffer.elements();
  const std::uint64_t bytes = send.source.count;
  const std::uint64_t step = piece_of(bytes, sizes);
  for (std::uint64_t at = 0; at < bytes; at += step) {
    const std::uint64_t piece = std::min(step, bytes - at);
    pack_across(elements, at, {send.source.address + at, piece});
    send.ready.store(at + piece, std::memory_order_release);
  }
}

void help(Request& send) {
  const std::uint64_t bytes = send.shared_bytes;
  const std::uint64_t step = send.piece;
  const Elements target = send.target;
  for (std::uint64_t at = pieces_of(bytes, step) * step; claim_piece(send);) {
    at -= step;
    const std::uint64_t piece = std::min(step, bytes - at);
    move(send.source, target, at, piece);
    send.helped.fetch_add(piece, std::memory_order_release);
  }
}

// --- at the receiver ---

namespace {

// Asks for what a copy begins with, all at once: to take the payload would wait for the line of the sender's request
// first, and only then for those of the payload.
void fetch(const Rts& rts) {
  constexpr std::uint64_t kFirst = 64 * kLine;
  if (rts.movable) prefetch_to_write(&rts.request->place);
  if (rts.form == Form::shaped) {
    __builtin_prefetch(&rts.request->source);
    return;
  }
  for (std::uint64_t at = 0; at < std::min(rts.bytes, kFirst); at += kLine) __builtin_prefetch(rts.address + at);
}

// Until at least the first `bytes` behind an RTS are packed; how many are. The sender does nothing else until it has
// packed all.
std::uint64_t await_packed(const Rts& rts, std::uint64_t bytes, bool oversubscribed) {
  Ladder ladder(oversubscribed);
  for (;;) {
    const std::uint64_t ready = rts.request->ready.load(std::memory_order_acquire);
    if (ready >= bytes) return ready;
    ladder.step();
  }
}

void copy_as_packed(const Request& receive, const Rts& rts, bool oversubscribed) {
  const Elements packed = payload_of(rts);
  const std::uint64_t bytes = receive.result.bytes;
  for (std::uint64_t copied = 0; copied < bytes;) {
    const std::uint64_t ready = std::min(await_packed(rts, copied + 1, oversubscribed), bytes);
    move(packed, receive.buffer.elements(), copied, ready - copied);
    copied = ready;
  }
}

}  // namespace

void Endpoint::pull(Request& receive, const Rts& rts) {
  fetch(rts);
  if (rts.pairs && receive.persistent != nullptr) pairs()->meet(receive, rts);
  Request& send = *rts.request;
  const std::uint64_t room = receive.buffer.bytes();
  if (rts.bytes > room) receive.result.outcome = Outcome::truncated;
  receive.result.bytes = std::min(rts.bytes, room);
  receive.partner = &send;
  receive.partner_port = rts.sender;
  if (rts.movable) {
    auto place = Request::Place::buffer;
    if (!send.place.compare_exchange_strong(place, Request::Place::taken, std::memory_order_acquire)) {
      memory_.copy_in(receive, {send.packed.get(), rts.bytes, nullptr});
      end_rendezvous(receive);
      return;
    }
  }
  if (rts.sender != &port_ && worth_sharing(receive, rts, copying_) && pull_shared(receive, rts)) return;
  if (rts.form == Form::packing && !receive.buffer.needs_library()) {
    copy_as_packed(receive, rts, backoff_settings_.oversubscribed);
  } else {
    if (rts.form == Form::packing) await_packed(rts, rts.bytes, backoff_settings_.oversubscribed);
    memory_.copy_in(receive, payload_of(rts));
  }
  end_rendezvous(receive);
}

// True: the copy is done, or the sender is about to finish its last pieces. False: nothing was copied, since the
// sender's port already has another request to assist.
bool Endpoint::pull_shared(Request& receive, const Rts& rts) {
  Request& send = *rts.request;
  const Elements source = payload_of(rts);
  const Elements target = receive.buffer.elements();
  const std::uint64_t bytes = receive.result.bytes;
  const std::uint64_t step = piece_of(bytes, copying_.pieces);
  send.target = target;
  send.shared_bytes = bytes;
  send.piece = step;
  send.claimed.store(0, std::memory_order_relaxed);
  send.helped.store(0, std::memory_order_relaxed);
  Request* none = nullptr;
  if (!rts.sender->assist.compare_exchange_strong(none, &send, std::memory_order_release)) return false;
  rts.sender->wake();
  std::uint64_t copied = 0;
  while (claim_piece(send)) {
    const std::uint64_t piece = std::min(step, bytes - copied);
    if (rts.form == Form::packing) await_packed(rts, copied + piece, backoff_settings_.oversubscribed);
    move(source, target, copied, piece);
    copied += piece;
  }
  // Before the end is told: the sender may use the request again then.
  Request* own = &send;
  rts.sender->assist.compare_exchange_strong(own, nullptr, std::memory_order_relaxed);
  receive.missing = bytes - copied;
  if (!finish_shared(receive)) lists_.add_finishing(receive, signals_);
  return true;
}

bool Endpoint::finish_shared(Request& receive) {
  if (receive.partner->helped.load(std::memory_order_acquire) != receive.missing) return false;
  end_rendezvous(receive);
  return true;
}

// The payload is here: the sender may have its buffer back.
void Endpoint::end_rendezvous(Request& receive) {
  Port& sender = *receive.partner_port;
  receive.partner->finished.store(true, std::memory_order_release);
  sender.wake();
  finish(receive);
}

}  // namespace urakata::p2p
