#include "shim/mixed_queue.hpp"

#include <climits>

#include "shim/host.hpp"
#include "shim/message.hpp"
#include "shim/request.hpp"
#include "shim/space.hpp"

namespace urakata::shim {
namespace {

int source_of(const MessageDescriptor& descriptor) {
  return descriptor.envelope.source == p2p::kAnySource ? MPI_ANY_SOURCE : descriptor.envelope.source;
}
int tag_of(const MessageDescriptor& descriptor) {
  return descriptor.envelope.tag == p2p::kAnyTag ? MPI_ANY_TAG : descriptor.envelope.tag;
}

// Is there a message that both patterns match?
bool overlap(const p2p::Envelope& a, const p2p::Envelope& b) {
  return a.context == b.context && (a.tag == b.tag || a.tag == p2p::kAnyTag || b.tag == p2p::kAnyTag) &&
         (a.source == b.source || a.source == p2p::kAnySource || b.source == p2p::kAnySource);
}

p2p::Envelope envelope_of(const MessageDescriptor& descriptor, const MPI_Status& found) {
  return {descriptor.envelope.context, found.MPI_SOURCE, found.MPI_TAG};
}

bool host_has(const MessageDescriptor& descriptor, MPI_Status* found) {
  int flag = 0;
  host.Iprobe(source_of(descriptor), tag_of(descriptor), descriptor.circle->handle, &flag, found);
  return flag != 0;
}

}  // namespace

MixedQueue& mixed_queue() {
  static auto* the = new MixedQueue;
  return *the;
}

bool MixedQueue::disturbs(const MessageDescriptor& descriptor, const MixedReceive* before) const {
  for (const MixedReceive* entry = queue_.first(); entry != nullptr && entry != before; entry = entry->next) {
    if (overlap(entry->descriptor().envelope, descriptor.envelope)) return true;
  }
  return false;
}

bool MixedQueue::claims(const p2p::Envelope& message, const MixedReceive* before) const {
  for (const MixedReceive* entry = queue_.first(); entry != nullptr && entry != before; entry = entry->next) {
    if (p2p::matches(entry->descriptor().envelope, message)) return true;
  }
  return false;
}

bool MixedQueue::assist(const MessageDescriptor& descriptor, MPI_Status* found) const {
  return host_has(descriptor, found) && !claims(envelope_of(descriptor, *found));
}

void MixedQueue::start(MixedReceive& entry) {
  const MessageDescriptor& descriptor = entry.descriptor();
  MPI_Status found;
  MPI_Message message = MPI_MESSAGE_NULL;
  if (descriptor.carrier == Carrier::by_host) {
    if (!disturbs(descriptor)) return post(entry);
  } else {
    // Now and then the host's message comes first, or a stream of messages of the space could keep it out forever.
    constexpr unsigned kFair = 8;
    if (++turns_ % kFair == 0 && !disturbs(descriptor) && host_has(descriptor, &found) &&
        take(descriptor, found, &message)) {
      return receive(entry, message);
    }
    entry.open_ = &endpoint()->receive(descriptor.envelope, descriptor.buffer);
    if (!endpoint()->posted(*entry.open_)) return entry.state_.store(State::at_space, std::memory_order_release);
  }
  open_.fetch_add(1, std::memory_order_relaxed);
  waiting_.fetch_add(1, std::memory_order_relaxed);
  queue_.push(entry);
  poll();
}

bool MixedQueue::poll() {
  bool moved = false;
  const MixedReceive* in_vain = nullptr;  // the last entry for which the host had nothing
  for (MixedReceive* entry = queue_.first(); entry != nullptr;) {
    MixedReceive& now = *entry;
    entry = entry->next;
    const MessageDescriptor& descriptor = now.descriptor();
    if (now.open_ != nullptr && !endpoint()->posted(*now.open_)) {
      leave(now);
      moved = true;
      if (now.abandoned_) {
        retain(descriptor.buffer);  // the owner's hold ends before the endpoint may be done
        leave_behind(*now.open_, *descriptor.circle);
        destroy_request(&now.owner_);
      } else {
        now.state_.store(State::at_space, std::memory_order_release);
      }
      continue;
    }
    if (now.open_ == nullptr && !disturbs(descriptor, &now)) {
      leave(now);
      post(now);
      moved = true;
      continue;
    }
    if (in_vain != nullptr && in_vain->descriptor().envelope == descriptor.envelope) continue;
    MPI_Status found;
    if (!host_has(descriptor, &found)) {
      in_vain = &now;
    } else if (!claims(envelope_of(descriptor, found), &now)) {
      if (now.open_ != nullptr && !endpoint()->withdraw(*now.open_)) continue;  // leaves at the next poll
      MPI_Message message = MPI_MESSAGE_NULL;
      if (take(descriptor, found, &message)) {
        leave(now);
        receive(now, message);
        moved = true;
      } else if (now.open_ != nullptr) {
        endpoint()->restore(*now.open_);
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

bool MixedQueue::test() {
  bool moved = false;
  for (MixedReceive* entry = at_host_.first(); entry != nullptr;) {
    MixedReceive& now = *entry;
    entry = entry->next;
    int flag = 0;
    if (host.Request_get_status(now.theirs_, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 0) continue;
    at_host_.take([&](const MixedReceive& e) { return &e == &now; });
    open_.fetch_sub(1, std::memory_order_relaxed);
    now.state_.store(State::finished, std::memory_order_release);
    moved = true;
  }
  return moved;
}

void MixedQueue::forget_at_host(MixedReceive& entry) {
  at_host_.take([&](const MixedReceive& e) { return &e == &entry; });
  open_.fetch_sub(1, std::memory_order_relaxed);
}

void MixedQueue::post(MixedReceive& entry) {
  const MessageDescriptor& descriptor = entry.descriptor();
  std::byte* const address = descriptor.buffer.address;
  MPI_Datatype type = descriptor.type->handle();
#if defined(URAKATA_LARGE_COUNTS)
  if (descriptor.count > INT_MAX) {
    entry.code_ = host.Irecv_c(address, descriptor.count, type, source_of(descriptor), tag_of(descriptor),
                               descriptor.circle->handle, &entry.theirs_);
    return enter_host(entry);
  }
#endif
  entry.code_ = host.Irecv(address, static_cast<int>(descriptor.count), type, source_of(descriptor), tag_of(descriptor),
                           descriptor.circle->handle, &entry.theirs_);
  enter_host(entry);
}

bool MixedQueue::take(const MessageDescriptor& descriptor, const MPI_Status& found, MPI_Message* message) {
  int flag = 0;
  host.Improbe(found.MPI_SOURCE, found.MPI_TAG, descriptor.circle->handle, &flag, message, MPI_STATUS_IGNORE);
  return flag != 0;
}

void MixedQueue::receive(MixedReceive& entry, MPI_Message message) {
  const MessageDescriptor& descriptor = entry.descriptor();
  std::byte* const address = descriptor.buffer.address;
  MPI_Datatype type = descriptor.type->handle();
#if defined(URAKATA_LARGE_COUNTS)
  if (descriptor.count > INT_MAX) {
    entry.code_ = host.Imrecv_c(address, descriptor.count, type, &message, &entry.theirs_);
    return enter_host(entry);
  }
#endif
  entry.code_ = host.Imrecv(address, static_cast<int>(descriptor.count), type, &message, &entry.theirs_);
  enter_host(entry);
}

void MixedQueue::enter_host(MixedReceive& entry) {
  if (entry.abandoned_) {
    host.Request_free(&entry.theirs_);
    if (entry.open_ != nullptr) endpoint()->discard(*entry.open_);
    destroy_request(&entry.owner_);
    return;
  }
  if (entry.code_ != MPI_SUCCESS) return entry.state_.store(State::finished, std::memory_order_release);
  entry.state_.store(State::at_host, std::memory_order_release);
  open_.fetch_add(1, std::memory_order_relaxed);
  at_host_.push(entry);
}

}  // namespace urakata::shim
