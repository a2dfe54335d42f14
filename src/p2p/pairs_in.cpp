// SPDX-License-Identifier: BSD-3-Clause
// The receiver's side of matched persistent pairs.
#include <algorithm>
#include <cstring>
#include <new>

#include "base/waiting.hpp"
#include "p2p/endpoint.hpp"
#include "p2p/small_copy.hpp"

namespace urakata::p2p {

namespace {

Rts rts_in(Put& put) {
  Rts rts;
  std::memcpy(&rts, put.payload(), sizeof rts);
  return rts;
}

std::uint64_t lines_for(std::uint64_t bytes) {
  if (bytes > Endpoint::kEager) return 1;
  return (bytes + kLine - Put::kPayload + kLine - 1) / kLine;
}

bool same_sender(const Envelope& a, const Envelope& b) { return a.context == b.context && a.source == b.source; }

}  // namespace

// --- starts ---

Request& Endpoint::Pairs::start(Persistent& receive, const Envelope& pattern, const Buffer& buffer) {
  assert_held();
  ++receive.starts;
  if (ReceiveEnd* const end = receive.in) {
    Request& request = *end->request;
    request.buffer = buffer;
    request.finished.store(false, std::memory_order_relaxed);
    here_.signals_.count_open(1);
    end->started = end->waiting = true;
    if (!end->listed) {
      end->listed = true;
      waiting_.push_back(end);
      note();
    }
    return request;
  }
  Request& request = here_.new_request();
  request.is_send = false;
  request.buffer = buffer;
  request.envelope = pattern;
  request.persistent = &receive;
  request.finished.store(false, std::memory_order_relaxed);
  here_.match(request);
  return request;
}

bool Endpoint::Pairs::keeps(Persistent& receive, const Request& request) {
  if (receive.in == nullptr || receive.in->request != &request) return false;
  receive.in->started = false;
  here_.signals_.count_open(-1);
  return true;
}

void Endpoint::Pairs::end(Persistent& persistent, Request* open) {
  assert_held();
  if (persistent.out != nullptr) end(*persistent.out);
  if (persistent.in != nullptr) {
    close(*persistent.in);
    settle();
  }
  if (open != nullptr) open->persistent = nullptr;
}

// --- how a pair begins ---

// Whether no other receive here could take a message with the key, and no other message with the key is here.
bool Endpoint::Pairs::alone(const Envelope& key) const {
  for (const ReceiveEnd* end = in_[place_of(key.source)].get(); end != nullptr; end = end->next.get()) {
    if (end->key == key) return false;
  }
  return here_.matching_.alone(key);
}

void Endpoint::Pairs::meet(Request& receive, const Rts& rts) {
  assert_held();
  Persistent& owner = *receive.persistent;
  const Envelope& key = receive.envelope;
  if (owner.in != nullptr || rts.sender == &here_.port_ || key.source == kAnySource || key.tag == kAnyTag ||
      rts.bytes > receive.buffer.bytes() || !alone(key)) {
    return;
  }
  auto end = std::make_unique<ReceiveEnd>();
  end->lines = lines_for(rts.bytes);
  end->ring = std::make_unique<ReceiveEnd::Line[]>(kRingEntries * end->lines);
  for (std::uint64_t k = 0; k < kRingEntries; ++k) new (end->ring[k * end->lines].bytes) Put;
  end->key = key;
  end->sender = rts.request->end;
  end->generation = rts.request->generation;
  end->sender_port = rts.sender;
  end->owner = &owner;
  std::uint64_t expected = SendEnd::waiting_for(end->generation);
  if (!end->sender->state.compare_exchange_strong(expected, reinterpret_cast<std::uint64_t>(end.get()),
                                                  std::memory_order_acq_rel)) {
    return;
  }
  Request& request = here_.requests_.take();
  request.is_send = request.movable = request.posted = false;
  request.envelope = key;
  request.persistent = &owner;
  request.result = {key.source, key.tag, 0, Outcome::good};
  end->request = &request;
  owner.in = end.get();
  ++ends_;
  waiting_.reserve(ends_);
  closed_.reserve(ends_);
  std::unique_ptr<ReceiveEnd>& first = in_[place_of(key.source)];
  end->next = std::exchange(first, nullptr);
  first = std::move(end);
}

// --- while a pair is open ---

void Endpoint::Pairs::take(ReceiveEnd& end, Put& put) {
  Request& request = *end.request;
  end.waiting = false;
  request.result.bytes = put.bytes;
  if (put.kind == Kind::rendezvous) {
    const Rts rts = rts_in(put);
    ++end.taken;
    here_.pull(request, rts);
  } else {
    if (request.buffer.plain()) {
      small_copy(request.buffer.address, put.payload(), put.bytes);
    } else {
      here_.memory_.store(request, put.payload(), put.bytes);
    }
    ++end.taken;
    here_.finish(request);
  }
  if (end.taken - end.told >= kRingEntries / 2) tell(end);
}

void Endpoint::Pairs::tell(ReceiveEnd& end) {
  end.told = end.taken;
  end.sender->taken.store(end.taken, std::memory_order_release);
}

bool Endpoint::Pairs::step() {
  assert_held();
  bool moved = false;
  for (std::size_t i = waiting_.size(); i-- > 0;) {
    ReceiveEnd& end = *waiting_[i];
    if (!end.waiting) {
      end.listed = false;
      waiting_[i] = waiting_.back();
      waiting_.pop_back();
      note();
    } else if (Put* const put = end.next_put()) {
      take(end, *put);
      moved = true;
    }
  }
  return (!closed_.empty() && settle()) || moved;
}

bool Endpoint::Pairs::can_progress() const {
  if (!one_thread_) return busy_.load(std::memory_order_relaxed);
  assert_held();  // as always where one thread calls
  const auto here = [](const ReceiveEnd* end) { return end->next_put() != nullptr; };
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const ReceiveEnd* end) { return end->waiting && here(end); }) ||
         std::any_of(closed_.begin(), closed_.end(), here);
}

void Endpoint::Pairs::await(const Request& request) {
  constexpr unsigned kMostPauses = 128;
  if (!one_thread_ || request.persistent == nullptr) return;
  assert_held();  // as always where one thread calls
  ReceiveEnd* const end = request.persistent->in;
  if (end == nullptr || end->request != &request || !end->waiting) return;
  const unsigned pauses = here_.backoff_settings_.pauses;
  unsigned polls = here_.backoff_settings_.oversubscribed ? 1 : pauses == 0 ? 2 * kMostPauses : kMostPauses / pauses;
  for (; polls != 0; --polls) {
    if (Put* const put = end->next_put()) return take(*end, *put);
    if (end->told != end->taken) tell(*end);  // free of charge while waiting
    rest(pauses);
    if (here_.port_.assist.load(std::memory_order_relaxed) != nullptr || here_.signals_.listed()) {
      return;
    }
  }
}

// --- how a pair ends ---

void Endpoint::Pairs::close(ReceiveEnd& end) {
  Request& request = *end.request;
  end.sender->state.fetch_or(SendEnd::kClosed, std::memory_order_acq_rel);
  end.owner->in = nullptr;
  if (end.listed) std::erase(waiting_, &end);
  end.listed = false;
  if (end.waiting) {
    end.waiting = false;
    here_.matching_.post(request);  // no receive posted before could take the message (invariant 1)
  } else if (!end.started) {
    request.persistent = nullptr;
    here_.requests_.give(request);
  }
  end.owner = nullptr;
  end.request = nullptr;
  closed_.push_back(&end);
  note();
}

void Endpoint::Pairs::before_receive(const Envelope& pattern) {
  assert_held();
  const bool any = pattern.source == kAnySource;
  const std::size_t first = any ? 0 : place_of(pattern.source);
  const std::size_t last = any ? kPlaces - 1 : first;
  // Repeated, since settle() may match a message that begins another pair.
  for (bool closed = true; closed;) {
    closed = false;
    bool found = false;
    for (std::size_t place = first; place <= last; ++place) {
      for (ReceiveEnd* end = in_[place].get(); end != nullptr; end = end->next.get()) {
        if (!matches(pattern, end->key)) continue;
        found = true;
        if (end->owner == nullptr) continue;
        close(*end);
        closed = true;
      }
    }
    if (found) settle();
  }
}

void Endpoint::Pairs::before_arrival(const Envelope& envelope, std::uint32_t order) {
  assert_held();
  bool found = false;
  for (ReceiveEnd* end = in_[place_of(envelope.source)].get(); end != nullptr; end = end->next.get()) {
    if (!same_sender(end->key, envelope)) continue;
    if (end->owner != nullptr && end->key.tag == envelope.tag) close(*end);  // the sender has ended the pair
    found = found || end->owner == nullptr;
  }
  if (!found) return;
  for (;;) {
    ReceiveEnd* oldest = nullptr;
    for (ReceiveEnd* const end : closed_) {
      const Put* const put = same_sender(end->key, envelope) ? end->next_put() : nullptr;
      if (put != nullptr && older(put->order, order) &&
          (oldest == nullptr || older(put->order, oldest->next_put()->order))) {
        oldest = end;
      }
    }
    if (oldest == nullptr) break;
    hand_over(*oldest);
  }
  forget_ended();
}

// Matches the puts in the rings of closed ends, each in its place. Returns whether there were any.
bool Endpoint::Pairs::settle() {
  bool moved = false;
  for (;;) {
    bool any = false;
    for (ReceiveEnd* const end : closed_) {
      end->sighted = end->taken;
      while (end->sighted < end->taken + kRingEntries && end->put_at(end->sighted + 1) != nullptr) ++end->sighted;
      any = any || end->sighted != end->taken;
    }
    if (!any) break;
    moved = true;
    empty_inbox();
    for (;;) {
      ReceiveEnd* oldest = nullptr;
      for (ReceiveEnd* const end : closed_) {
        if (end->taken >= end->sighted) continue;
        const bool first = oldest == nullptr || (end->sender_port == oldest->sender_port &&
                                                 older(end->next_put()->order, oldest->next_put()->order));
        if (first) oldest = end;
      }
      if (oldest == nullptr) break;
      hand_over(*oldest);
    }
  }
  forget_ended();
  return moved;
}

// Matches all messages that are in the inbox now. Waits for slots that are claimed and not yet filled, which takes
// their senders a few instructions.
void Endpoint::Pairs::empty_inbox() {
  Inbox& inbox = here_.port_.inbox;
  const std::uint64_t end = inbox.tail();
  Ladder ladder(here_.backoff_settings_.oversubscribed);
  while (static_cast<std::int64_t>(end - inbox.next()) > 0) {
    if (const Slot* const slot = inbox.peek()) {
      here_.arrive(*slot);
    } else {
      ladder.step();
    }
  }
}

// Matches the next put of a closed end.
void Endpoint::Pairs::hand_over(ReceiveEnd& end) {
  Put& put = *end.next_put();
  Request* const receive = here_.matching_.take_receive(end.key);
  if (receive == nullptr) {
    Unexpected& kept = here_.unexpected_.take(end.key, put.kind, put.order, put.bytes);
    if (put.kind == Kind::eager) {
      std::memcpy(kept.payload(), put.payload(), put.bytes);
    } else {
      kept.rts = rts_in(put);
      kept.bytes = kept.rts.bytes;
    }
    here_.matching_.keep_in_order(kept);
  } else {
    receive->result = {end.key.source, end.key.tag, 0, Outcome::good};
    if (put.kind == Kind::eager) {
      here_.memory_.store(*receive, put.payload(), put.bytes);
      here_.finish(*receive);
    } else {
      here_.pull(*receive, rts_in(put));
    }
  }
  ++end.taken;
  tell(end);
}

void Endpoint::Pairs::forget_ended() {
  const std::size_t before = closed_.size();
  std::erase_if(closed_, [&](ReceiveEnd* end) {
    assert_held();
    if (end->ended.load(std::memory_order_acquire) != end->taken + 1) return false;
    end->sender->released.store(end->generation, std::memory_order_release);
    std::unique_ptr<ReceiveEnd>* link = &in_[place_of(end->key.source)];
    while (link->get() != end) link = &(*link)->next;
    *link = std::move((*link)->next);
    --ends_;
    return true;
  });
  if (closed_.size() != before) note();
}

}  // namespace urakata::p2p
