// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/wire_receives.hpp"

#include <algorithm>
#include <utility>

#include "transport/wire/wire_port.hpp"
#include "transport/wire/wire_sends.hpp"

namespace urakata::transport {

WireReceives::Begun WireReceives::recv(WirePort& port, const Message& message, const Ticket& ticket, int* error) {
  PostedReceive receive{.port = &port, .ticket = ticket, .message = message};
  if (message.layout != nullptr) receive.packed.resize(message.bytes);
  const auto found = std::ranges::find_if(unexpected_, [&](const auto& unexpected) {
    return unexpected->tag == message.tag && unexpected->taker == nullptr;
  });
  if (found == unexpected_.end()) {
    if (pair_.broken()) {
      *error = failure_;
      return Begun::finished;
    }
    posted_.push_back(std::move(receive));
    return Begun::waits;
  }
  Unexpected& unexpected = **found;
  if (unexpected.rts_received) {
    const std::uint64_t id = unexpected.id;
    const std::uint64_t bytes = unexpected.bytes;
    unexpected_.erase(found);
    if (bytes > message.bytes) {
      *error = too_long(bytes, message.bytes, failure_);
      return Begun::finished;
    }
    send_cts(id, std::move(receive));
    return Begun::asked;
  }
  if (!unexpected.whole) {
    if (pair_.broken()) {  // the rest was lost with the connection
      *error = failure_;
      return Begun::finished;
    }
    unexpected.taker = std::make_unique<PostedReceive>(std::move(receive));
    return Begun::waits;
  }
  *error = receive.deliver(unexpected.payload, failure_);
  unexpected_.erase(found);
  return Begun::finished;
}

std::deque<PostedReceive>::iterator WireReceives::posted_for(std::int32_t tag) {
  return std::ranges::find_if(posted_, [&](const PostedReceive& one) { return one.message.tag == tag; });
}

void WireReceives::send_cts(std::uint64_t id, PostedReceive&& receive) {
  cts_sent_.emplace(id, std::move(receive));
  pair_.send_soon({.frame = {.kind = FrameKind::cts, .id = id}});
}

// --- frames of the peer ----------------------------------------------------------------------------------------------

std::byte* WireReceives::place(const Frame& frame) {
  if (frame.kind == FrameKind::payload) {
    const auto found = cts_sent_.find(frame.id);
    if (found == cts_sent_.end() || frame.bytes > found->second.message.bytes) return nullptr;
    current_ = std::make_unique<PostedReceive>(std::move(found->second));
    cts_sent_.erase(found);
    return !current_->given_up() ? current_->room() : pair_.throw_away(frame.bytes);
  }
  const auto found = posted_for(frame.tag);
  if (found == posted_.end()) {
    if (frame.bytes > WireSends::kEager) return nullptr;
    if (failed_.has(frame.tag)) {
      current_ = std::make_unique<PostedReceive>();
      return pair_.throw_away(frame.bytes);
    }
    auto unexpected = std::make_unique<Unexpected>();
    unexpected->tag = frame.tag;
    unexpected->bytes = frame.bytes;
    unexpected->payload.resize(frame.bytes);
    current_unexpected_ = unexpected.get();
    unexpected_.push_back(std::move(unexpected));
    return current_unexpected_->payload.data();
  }
  current_ = std::make_unique<PostedReceive>(std::move(*found));
  posted_.erase(found);
  return frame.bytes <= current_->message.bytes ? current_->room() : pair_.throw_away(frame.bytes);
}

void WireReceives::arrived(const Frame& frame) {
  if (frame.bytes == 0) {  // nobody has asked for room
    place(frame);
    if (!current_ && current_unexpected_ == nullptr) return;  // of a receive that is not known here
  }
  if (current_) {
    const auto receive = std::move(current_);
    if (!receive->given_up()) receive->end(receive->unpack(frame.bytes, failure_));
    return;
  }
  Unexpected& unexpected = *std::exchange(current_unexpected_, nullptr);
  unexpected.whole = true;
  if (unexpected.taker) unexpected.taker->end(unexpected.taker->deliver(unexpected.payload, failure_));
  if (unexpected.taker || failed_.has(unexpected.tag)) {
    std::erase_if(unexpected_, [&](const auto& one) { return one.get() == &unexpected; });
  }
}

void WireReceives::rts_received(const Frame& frame) {
  const auto found = posted_for(frame.tag);
  if (found == posted_.end()) {
    if (failed_.has(frame.tag)) return;  // its sender is told
    auto unexpected = std::make_unique<Unexpected>();
    unexpected->tag = frame.tag;
    unexpected->bytes = frame.bytes;
    unexpected->rts_received = true;
    unexpected->id = frame.id;
    unexpected_.push_back(std::move(unexpected));
    return;
  }
  PostedReceive receive = std::move(*found);
  posted_.erase(found);
  if (frame.bytes > receive.message.bytes) {
    receive.end(too_long(frame.bytes, receive.message.bytes, failure_));
  } else {
    send_cts(frame.id, std::move(receive));
  }
}

// --- what has failed -------------------------------------------------------------------------------------------------

std::size_t WireReceives::cancel(const void* instance) {
  const auto of_instance = [&](const PostedReceive& one) { return !one.given_up() && one.ticket.instance == instance; };
  std::size_t taken = std::erase_if(posted_, of_instance);
  for (auto& [id, receive] : cts_sent_) {
    if (!of_instance(receive)) continue;
    receive.give_up();
    ++taken;
  }
  if (current_ && of_instance(*current_)) {
    pair_.throw_rest_away();
    current_->give_up();
    ++taken;
  }
  for (const auto& unexpected : unexpected_) {
    if (!unexpected->taker || !of_instance(*unexpected->taker)) continue;
    unexpected->taker.reset();
    ++taken;
  }
  return taken;
}

void WireReceives::drop_failed() {
  std::erase_if(unexpected_, [&](const auto& unexpected) {
    return (unexpected->whole || unexpected->rts_received) && failed_.has(unexpected->tag);
  });
}

void WireReceives::lose() {
  if (current_) current_->end(failure_);
  current_.reset();
  for (auto& unexpected : unexpected_) {
    if (unexpected->taker) unexpected->taker->end(failure_);
    unexpected->taker.reset();
  }
  for (const PostedReceive& one : posted_) one.end(failure_);
  posted_.clear();
  for (const auto& [id, one] : cts_sent_) one.end(failure_);
  cts_sent_.clear();
}

bool WireReceives::wanted() const {
  return current_ || !posted_.empty() || !cts_sent_.empty() || current_unexpected_ != nullptr;
}

}  // namespace urakata::transport
