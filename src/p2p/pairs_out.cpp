// SPDX-License-Identifier: BSD-3-Clause
// The sender's side of matched persistent pairs.
#include <algorithm>
#include <cstring>
#include <utility>

#include "p2p/endpoint.hpp"
#include "p2p/prefetch.hpp"
#include "p2p/rendezvous.hpp"
#include "p2p/small_copy.hpp"

namespace urakata::p2p {

// --- the endpoint's side ---

void Endpoint::expect_pairs() {
  const Guard guard(lock_);
  if (own_pairs_ != nullptr) return;
  own_pairs_ = std::make_unique<Pairs>(*this, lock_.alone());
  port_.further.store(own_pairs_.get(), std::memory_order_release);
  pairs_.store(own_pairs_.get(), std::memory_order_release);
}

Request* Endpoint::start(Persistent& send, Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode) {
  const Guard guard(lock_);
  return pairs()->start(send, to, envelope, buffer, mode);
}

Request& Endpoint::start(Persistent& receive, const Envelope& pattern, const Buffer& buffer) {
  const Guard guard(lock_);
  return pairs()->start(receive, pattern, buffer);
}

void Endpoint::end(Persistent& persistent, Request* open) {
  const Guard guard(lock_);
  pairs()->end(persistent, open);
  port_.wake();  // requests of other threads may have completed
}

namespace {

// Number of puts from which on a pair was worth its setup. A refused pair has none.
constexpr std::uint64_t kWorth = 64;
constexpr std::uint64_t kMostBackoff = 1024;  // starts

}  // namespace

Request* Endpoint::Pairs::start(Persistent& send, Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode) {
  assert_held();
  ++send.starts;
  if (send.out != nullptr) {
    if (Put* const entry = free_entry(*send.out)) return put(*send.out, *entry, buffer, mode);
    end(*send.out);
  }
  return &to != &here_.port_ && send.starts >= send.asks_at ? ask(send, to, envelope, buffer, mode)
                                                            : here_.send_unpaired(to, envelope, buffer, mode);
}

// nullptr: the pair has to end.
Put* Endpoint::Pairs::free_entry(SendEnd& end) const {
  const std::uint64_t state = end.state.load(std::memory_order_acquire);
  if ((state & (SendEnd::kWaiting | SendEnd::kClosed)) != 0) return nullptr;
  end.receiver = SendEnd::address_in(state);
  if (end.put - end.seen == kRingEntries) {
    end.seen = end.taken.load(std::memory_order_acquire);
    if (end.put - end.seen == kRingEntries) return nullptr;
  }
  // A message that waits for room in the inbox has no number yet, but is older than this put.
  if (here_.lists_.any_pending() && here_.lists_.pending_to(*end.to)) return nullptr;
  return &end.receiver->entry(end.put + 1);
}

Request* Endpoint::Pairs::put(SendEnd& end, Put& entry, const Buffer& buffer, Mode mode) {
  const std::uint64_t bytes = buffer.bytes();
  Port& to = *end.to;
  Request* request = nullptr;
  entry.order = here_.outbound_.number();
  if (bytes <= kEager && mode != Mode::synchronous) {
    entry.kind = Kind::eager;
    entry.bytes = static_cast<std::uint16_t>(bytes);
    if (buffer.plain()) {
      small_copy(entry.payload(), buffer.address, bytes);
    } else if (bytes != 0) {
      buffer.layout->pack(buffer.address, 0, buffer.count, entry.payload());
    }
  } else {
    request = &here_.make_send(to, end.key, buffer, mode, true);
    if (request->result.outcome == Outcome::failed) return request;  // not packed; the unused number does no harm
    const Rts rts = here_.rts_of(*request);
    entry.kind = Kind::rendezvous;
    std::memcpy(entry.payload(), &rts, sizeof rts);
  }
  entry.flag.store(++end.put, std::memory_order_release);
  to.wake();
  // `seen` is out of date: the next start reads `taken`, which has then been fetched.
  if (end.put - end.seen == kRingEntries) __builtin_prefetch(&end.taken);
  if (request != nullptr && request->form == Form::packing) pack_on(*request, here_.copying_.pieces);
  return request;
}

Request* Endpoint::Pairs::ask(Persistent& send, Port& to, const Envelope& envelope, const Buffer& buffer, Mode mode) {
  before_send(to, envelope);
  SendEnd& end = new_end();
  end.generation = ++generation_;
  end.to = &to;
  end.owner = &send;
  end.receiver = nullptr;
  end.key = envelope;
  end.put = end.seen = 0;
  end.taken.store(0, std::memory_order_relaxed);
  end.state.store(SendEnd::waiting_for(end.generation), std::memory_order_release);
  end.next = std::exchange(out_[place_of(to)], &end);
  send.out = &end;
  Request& request = here_.make_send(to, envelope, buffer, mode, true, true);
  request.end = &end;
  request.generation = end.generation;
  here_.launch(request);
  return &request;
}

void Endpoint::Pairs::before_send(const Port& to, const Envelope& envelope) {
  assert_held();
  for (SendEnd* end = out_[place_of(to)]; end != nullptr; end = end->next) {
    if (end->to != &to || end->key != envelope) continue;
    this->end(*end);  // the key's only pair (invariant 1)
    return;
  }
}

void Endpoint::Pairs::end(SendEnd& end) {
  SendEnd** link = &out_[place_of(*end.to)];
  while (*link != &end) link = &(*link)->next;
  *link = end.next;
  Persistent& owner = *end.owner;
  owner.out = nullptr;
  owner.backoff = end.put >= kWorth ? 2 : std::min(2 * owner.backoff, kMostBackoff);
  owner.asks_at = owner.starts + owner.backoff;
  const std::uint64_t state = end.state.exchange(SendEnd::kEnded, std::memory_order_acq_rel);
  if ((state & SendEnd::kWaiting) != 0) {
    free_.push_back(&end);
    return;
  }
  SendEnd::address_in(state)->ended.store(end.put + 1, std::memory_order_release);
  leaving_.push_back(&end);
}

SendEnd& Endpoint::Pairs::new_end() {
  std::erase_if(leaving_, [&](SendEnd* end) {
    assert_held();
    if (end->released.load(std::memory_order_acquire) != end->generation) return false;
    free_.push_back(end);
    return true;
  });
  if (free_.empty()) {
    made_.push_back(std::make_unique<SendEnd>());
    free_.reserve(made_.size());
    leaving_.reserve(made_.size());
    return *made_.back();
  }
  SendEnd& end = *free_.back();
  free_.pop_back();
  return end;
}

}  // namespace urakata::p2p
