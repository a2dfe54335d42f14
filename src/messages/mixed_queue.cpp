// SPDX-License-Identifier: BSD-3-Clause
#include "messages/mixed_queue.hpp"

#include <algorithm>

namespace urakata::messages {
namespace {

// Whether some message could match both patterns.
bool overlap(const p2p::Envelope& a, const p2p::Envelope& b) {
  return a.context == b.context && (a.tag == b.tag || a.tag == p2p::kAnyTag || b.tag == p2p::kAnyTag) &&
         (a.source == b.source || a.source == p2p::kAnySource || b.source == p2p::kAnySource);
}

}  // namespace

// Could an entry, of those before `before`, take a message that the descriptor takes too?
bool MixedQueue::disturbs(const MessageDescriptor& descriptor, const MixedReceive* before) const {
  for (const MixedReceive* entry = queue_.first(); entry != nullptr && entry != before; entry = entry->next) {
    if (overlap(entry->descriptor_.envelope, descriptor.envelope)) return true;
  }
  return false;
}

bool MixedQueue::claims(const p2p::Envelope& message, const MixedReceive* before) const {
  for (const MixedReceive* entry = queue_.first(); entry != nullptr && entry != before; entry = entry->next) {
    if (p2p::matches(entry->descriptor_.envelope, message)) return true;
  }
  return false;
}

bool MixedQueue::progress() {
  if (open_.load(std::memory_order_acquire) == 0) return false;
  const Lock lock(*this, std::try_to_lock);
  return lock.got() && poll();
}

bool MixedQueue::free_for_native(const MessageDescriptor& descriptor) {
  if (descriptor.endpoint_comm->unordered()) return true;
  if (concurrent_) return false;
  if (open_.load(std::memory_order_acquire) == 0) return true;
  const Lock lock(*this);
  return !disturbs(descriptor);
}

bool MixedQueue::find_at_native(const MessageDescriptor& descriptor, p2p::Envelope* found) {
  poll();
  return probe(descriptor, found) && !claims(*found);
}

void MixedQueue::start(MixedReceive& entry) {
  const MessageDescriptor& descriptor = entry.descriptor_;
  if (descriptor.carrier == Carrier::by_native) {
    if (!disturbs(descriptor)) return post(entry);
  } else {
    // Now and then the MPI library's message comes first, or a stream of messages of the space could keep it out
    // forever.
    constexpr unsigned kFair = 8;
    p2p::Envelope found;
    NativeHandle message = 0;
    if (++unasked_ > kFair && !disturbs(descriptor) && probe(descriptor, &found) && take(descriptor, found, &message)) {
      return receive(entry, message);
    }
    entry.open_ = &endpoint_.receive(descriptor.envelope, descriptor.buffer);
    if (!endpoint_.posted(*entry.open_)) {
      note_bringer(entry, false);
      return entry.state_.store(State::at_space, std::memory_order_release);
    }
  }
  open_.fetch_add(1, std::memory_order_relaxed);
  waiting_.fetch_add(1, std::memory_order_relaxed);
  queue_.push(entry);
}

bool MixedQueue::probe(const MessageDescriptor& pattern, p2p::Envelope* found) {
  unasked_ = 0;
  return native_.probe(pattern, found);
}

bool MixedQueue::take(const MessageDescriptor& pattern, const p2p::Envelope& found, NativeHandle* message) {
  unasked_ = 0;
  return native_.take(pattern, found, message);
}

bool MixedQueue::poll() {
  bool moved = false;
  const MixedReceive* in_vain = nullptr;  // the last entry for which the MPI library had nothing
  for (MixedReceive* entry = queue_.first(); entry != nullptr;) {
    MixedReceive& now = *entry;
    entry = entry->next;
    const MessageDescriptor& descriptor = now.descriptor_;
    if (now.open_ != nullptr && !endpoint_.posted(*now.open_)) {
      leave_by_endpoint(now);
      moved = true;
      continue;
    }
    if (now.open_ == nullptr && !disturbs(descriptor, &now)) {
      leave(now);
      post(now);
      moved = true;
      continue;
    }
    if (in_vain != nullptr && in_vain->descriptor_.envelope == descriptor.envelope) continue;
    if (!concurrent_ && now.open_ != nullptr && endpoint_.one_open()) {  // this one, so nothing can come in between
      if (!endpoint_.withdraw(*now.open_)) continue;
      NativeHandle message = 0;
      if (take(descriptor, descriptor.envelope, &message)) {
        leave(now);
        receive(now, message);
        moved = true;
      } else {
        endpoint_.restore(*now.open_);
      }
      continue;
    }
    p2p::Envelope found;
    if (!probe(descriptor, &found)) {
      in_vain = &now;
    } else if (!claims(found, &now)) {
      if (now.open_ != nullptr && !endpoint_.withdraw(*now.open_)) continue;  // leaves at the next poll
      NativeHandle message = 0;
      if (take(descriptor, found, &message)) {
        leave(now);
        receive(now, message);
        moved = true;
      } else if (now.open_ != nullptr) {
        endpoint_.restore(*now.open_);
      }
    }
  }
  return test() || moved;
}

void MixedQueue::leave(MixedReceive& entry) {
  queue_.take([&](const MixedReceive& e) { return &e == &entry; });
  open_.fetch_sub(1, std::memory_order_relaxed);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

void MixedQueue::leave_by_endpoint(MixedReceive& entry) {
  leave(entry);
  note_bringer(entry, false);
  if (!entry.abandoned_) return entry.state_.store(State::at_space, std::memory_order_release);
  native_.leave_to_endpoint(*entry.open_, entry.descriptor_);
  native_.dispose(entry.owner_);
}

bool MixedQueue::test() {
  bool moved = false;
  for (MixedReceive* entry = at_native_.first(); entry != nullptr;) {
    MixedReceive& now = *entry;
    entry = entry->next;
    if (!native_.ended(*now.theirs_)) continue;
    forget_at_native(now);
    now.state_.store(State::finished, std::memory_order_release);
    moved = true;
  }
  return moved;
}

void MixedQueue::forget_at_native(MixedReceive& entry) {
  at_native_.take([&](const MixedReceive& e) { return &e == &entry; });
  open_.fetch_sub(1, std::memory_order_relaxed);
}

// Each turn of the MPI library's is calls of the kernel, too, and where ranks share a core often gives it to another
// one. So who brings little is asked seldom, but at once again after it has brought something a few times.
void MixedQueue::note_bringer(const MixedReceive& entry, bool by_native) {
  constexpr unsigned kMostTurns = 8;  // as often as Open MPI looks after what seldom is ready
  if (entry.descriptor_.carrier != Carrier::either) return;
  turns_of_endpoint_.store(by_native ? kMostTurns : std::max(1U, turns_of_endpoint() / 2), std::memory_order_relaxed);
}

void MixedQueue::post(MixedReceive& entry) {
  NativeHandle request = 0;
  const int code = native_.receive(entry.descriptor_, &request);
  enter_native(entry, code, request);
}

void MixedQueue::receive(MixedReceive& entry, NativeHandle message) {
  NativeHandle request = 0;
  const int code = native_.receive(entry.descriptor_, message, &request);
  note_bringer(entry, true);
  enter_native(entry, code, request);
}

void MixedQueue::enter_native(MixedReceive& entry, int code, NativeHandle request) {
  if (entry.abandoned_) {
    if (code == 0) native_.free(request);
    if (entry.open_ != nullptr) endpoint_.discard(*entry.open_);
    return native_.dispose(entry.owner_);
  }
  entry.code_ = code;
  if (code != 0) return entry.state_.store(State::finished, std::memory_order_release);
  entry.theirs_ = request;
  entry.state_.store(State::at_native, std::memory_order_release);
  open_.fetch_add(1, std::memory_order_relaxed);
  at_native_.push(entry);
}

}  // namespace urakata::messages
