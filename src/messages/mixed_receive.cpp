// SPDX-License-Identifier: BSD-3-Clause
#include "messages/mixed_receive.hpp"

#include <utility>

#include "messages/mixed_queue.hpp"

namespace urakata::messages {

std::unique_ptr<MixedReceive> MixedReceive::start(MixedQueue& queue, const MessageDescriptor& descriptor, void* owner) {
  std::unique_ptr<MixedReceive> made(new MixedReceive(queue, descriptor, owner));
  const MixedQueue::Lock lock(queue);
  queue.start(*made);
  if (made->state_.load(std::memory_order_relaxed) == State::queued) queue.poll();
  return made;
}

MixedReceive::MixedReceive(MixedQueue& queue, const MessageDescriptor& descriptor)
    : MixedReceive(queue, descriptor, nullptr) {
  const MixedQueue::Lock lock(queue);
  queue.start(*this);
}

MixedReceive::End MixedReceive::end() {
  {
    const MixedQueue::Lock lock(queue_);
    if (state_.load(std::memory_order_relaxed) == State::queued) {  // the endpoint has done it since the last poll
      queue_.leave(*this);
      queue_.note_bringer(*this, false);
      state_.store(State::at_space, std::memory_order_relaxed);
      queue_.poll();  // those behind it
    }
  }
  const End end = settled();
  if (p2p::Request* const open = std::exchange(open_, nullptr)) {
    if (state_.load(std::memory_order_relaxed) == State::at_space) {
      queue_.endpoint_.release(*open);
    } else {
      queue_.endpoint_.discard(*open);
    }
  }
  return end;
}

MixedReceive::End MixedReceive::settled() const {
  if (state_.load(std::memory_order_acquire) != State::finished) return {0, std::nullopt, open_->result};
  return {code_, theirs_, {p2p::kAnySource, p2p::kAnyTag, 0, p2p::Outcome::cancelled}};
}

void MixedReceive::cancel() {
  const MixedQueue::Lock lock(queue_);
  const State state = state_.load(std::memory_order_relaxed);
  if (state == State::at_native) queue_.native_.cancel(*theirs_);
  if (state != State::queued || (open_ != nullptr && !queue_.endpoint_.cancel(*open_))) return;
  queue_.leave(*this);
  state_.store(open_ != nullptr ? State::at_space : State::finished, std::memory_order_release);
  queue_.poll();
}

bool MixedReceive::abandon() {
  const MixedQueue::Lock lock(queue_);
  switch (state_.load(std::memory_order_relaxed)) {
    case State::queued:
      abandoned_ = true;
      return true;
    case State::at_space:
      queue_.native_.leave_to_endpoint(*open_, descriptor_);
      return false;
    case State::at_native:
      queue_.forget_at_native(*this);
      [[fallthrough]];
    case State::finished:
      if (theirs_.has_value()) queue_.native_.free(*theirs_);
      if (open_ != nullptr) queue_.endpoint_.discard(*open_);
      return false;
  }
  return false;
}

}  // namespace urakata::messages
