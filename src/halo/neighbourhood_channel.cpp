// SPDX-License-Identifier: BSD-3-Clause
#include "halo/neighbourhood_channel.hpp"

#include <algorithm>
#include <vector>

#include "halo/far_channels.hpp"

namespace urakata::halo {

namespace {

// The peers that this rank sends bytes to, sorted.
std::vector<std::uint32_t> receivers_of(std::span<const ChannelEnd> out) {
  std::vector<std::uint32_t> receivers;
  for (const ChannelEnd& end : out) {
    if (end.bytes() != 0) receivers.push_back(end.peer);
  }
  std::ranges::sort(receivers);
  return receivers;
}

std::uint64_t longest_by_wire(std::span<const ChannelEnd> ends) {
  std::uint64_t longest = 0;
  for (const ChannelEnd& end : ends) longest = std::max(longest, end.by_wire() ? end.bytes() : 0);
  return longest;
}

std::unique_ptr<FarChannels> far_channels_for(std::span<const ChannelEnd> out, std::span<const ChannelEnd> in,
                                              transport::PutWire* wire) {
  const auto any_by_wire = [](std::span<const ChannelEnd> ends) {
    return std::ranges::any_of(ends, &ChannelEnd::by_wire);
  };
  return wire != nullptr && (any_by_wire(out) || any_by_wire(in)) ? std::make_unique<FarChannels>(*wire) : nullptr;
}

}  // namespace

NeighbourhoodChannel::NeighbourhoodChannel(p2p::Port& port, std::span<const ChannelEnd> out,
                                           std::span<const ChannelEnd> in, const Costs& costs, transport::PutWire* wire)
    : port_(port),
      far_(far_channels_for(out, in, wire)),
      out_(port, out, costs.shared_most, far_.get()),
      in_(port, in, receivers_of(out), costs, far_.get()),
      longest_far_(std::max(longest_by_wire(out), longest_by_wire(in))),
      near_(out_.size() + in_.size() != (far_ != nullptr ? far_->size() : 0)) {
  in_.assign_bounce_buffers(bounce_memory_, costs);
  if (far_ != nullptr) bounce_memory_.add_slices(far_->enter());
}

NeighbourhoodChannel::~NeighbourhoodChannel() = default;

bool NeighbourhoodChannel::failed() const {
  return failed_.load(std::memory_order_relaxed) || (far_ != nullptr && far_->failed());
}

std::size_t NeighbourhoodChannel::from_far() const { return far_ != nullptr ? far_->sources() : 0; }

void NeighbourhoodChannel::begin(const std::byte* from, std::byte* to) {
  const std::uint64_t k = ++exchange_;
  ++counts_.exchanges;
  in_vain_ = 0;
  in_.forget_arrivals();
  if (failed()) return end_failed();
  out_.prefetch_ready();
  in_.begin(k, to, counts_);
  if (far_ != nullptr) far_->tell_ready(k, counts_);
  out_.begin(k, from, counts_);
}

bool NeighbourhoodChannel::told_of_failure() {
  if (!failed() && !out_.told_of_failure() && !in_.told_of_failure()) return false;
  failed_.store(true, std::memory_order_relaxed);
  return true;
}

// Invariant 7 of channel.hpp. A neighbour that has completed the exchange may take long to say that it has failed. This
// rank need not wait for that: the neighbour's payloads have come by then, and payloads to it have left.
void NeighbourhoodChannel::end_failed() {
  failed_.store(true, std::memory_order_relaxed);
  out_.tell_failure();
  in_.tell_failure();
  if (far_ != nullptr && !far_->give_up()) return;
  in_.give_up(exchange_, counts_);
  out_.give_up(exchange_);
}

bool NeighbourhoodChannel::progress() {
  constexpr unsigned kLong = 16;    // calls without progress after which a neighbour that should pull probably computes
  constexpr unsigned kSeldom = 64;  // calls without progress between two checks for failures
  const std::size_t before = under_way();
  if (before == 0) return false;
  const bool late = in_vain_ >= kLong;
  if (!failed()) {
    in_.take(exchange_, counts_);
    if (out_.leaving() != 0) out_.advance(exchange_, late, counts_);
  }
  if (under_way() != before) return true;
  if (failed() || (++in_vain_ % kSeldom == 0 && told_of_failure())) end_failed();
  return under_way() != before;
}

bool NeighbourhoodChannel::can_progress() const {
  return in_.can_progress(exchange_) || out_.can_progress(exchange_) || (!complete() && failed());
}

void NeighbourhoodChannel::wait(const p2p::BackoffSettings& settings) {
  p2p::Backoff backoff(port_, settings);
  while (!complete()) {
    if (progress()) {
      backoff.restart();
    } else {
      backoff.step([&] { return can_progress(); });
    }
  }
}

bool NeighbourhoodChannel::ready(std::size_t in) {
  if (in_.ready(exchange_, in, !failed(), counts_)) return true;
  progress();
  return in_.ready(exchange_, in, false, counts_);
}

std::optional<std::size_t> NeighbourhoodChannel::ready_any() {
  if (!in_.arrivals().any()) progress();
  return in_.arrivals().next();
}

void NeighbourhoodChannel::retire() {
  out_.retire();
  in_.retire();
}

bool NeighbourhoodChannel::released() const { return out_.released() && in_.released(); }

}  // namespace urakata::halo
