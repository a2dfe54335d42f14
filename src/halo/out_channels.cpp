// SPDX-License-Identifier: BSD-3-Clause
#include "halo/out_channels.hpp"

#include <algorithm>

#include "halo/far_channels.hpp"

namespace urakata::halo {

OutChannels::OutChannels(p2p::Port& port, std::span<const ChannelEnd> ends, std::uint64_t shared_most, FarChannels* far)
    : far_(far), places_(ends, shared_most), channels_(places_.channels()), far_number_(places_.channels()) {
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::uint32_t number = places_.of(i).channel;
    OutChannel& channel = channels_[number];
    const Segment& segment = channel.source.emplace_back(ends[i].segment());
    channel.target.emplace_back();
    channel.fit.push_back(Fit::open);
    channel.bytes += segment.bytes;
    channel.sender = &port;
    if (segment.bytes == 0) continue;
    if (channel.source.size() == 1) used_.push_back(number);
    if (ends[i].by_wire()) far_number_[number] = far_->add_out(ends[i].far, segment.elements, segment.bytes);
  }
  leaving_.reserve(used_.size());
}

Record OutChannels::record(std::size_t end) {
  const auto& [number, segment] = places_.of(end);
  Record made{.channel = &channels_[number], .bytes = channels_[number].source[segment].bytes, .segment = segment};
  if (const auto far = far_number_[number]) {
    made.sink = far_->number();
    made.out = *far;
    far_->await_join(*far);
  }
  return made;
}

Fit OutChannels::fit(std::size_t end) const {
  const auto& [number, segment] = places_.of(end);
  return channels_[number].fit[segment];
}

void OutChannels::prefetch_ready() const {
  for (const std::uint32_t i : used_) {
    if (channels_[i].direct || channels_[i].one_way) __builtin_prefetch(&channels_[i].ready);
  }
}

void OutChannels::begin(std::uint64_t k, const std::byte* from, Counts& counts) {
  for (const std::uint32_t i : used_) {
    OutChannel& channel = channels_[i];
    counts.bytes += channel.bytes;
    const auto far = far_number_[i];
    const bool left = far ? far_->begin_out(k, *far, displaced(from, channel.source[0].offset), counts)
                          : channel.begin(k, from, counts);
    if (!left) leaving_.push_back(i);
  }
  if (!leaving_.empty()) advance(k, false, counts);
}

void OutChannels::advance(std::uint64_t k, bool late, Counts& counts) {
  std::size_t kept = 0;
  for (const std::uint32_t i : leaving_) {
    if (!advance(k, i, late, counts)) leaving_[kept++] = i;
  }
  leaving_.resize(kept);
}

bool OutChannels::advance(std::uint64_t k, std::uint32_t channel, bool late, Counts& counts) {
  const auto far = far_number_[channel];
  return far ? far_->advance(k, *far, counts) : channels_[channel].advance(k, late, counts);
}

bool OutChannels::can_progress(std::uint64_t k) const {
  return std::ranges::any_of(leaving_, [&](std::uint32_t i) {
    const auto far = far_number_[i];
    return far ? far_->can_progress(k, *far) : channels_[i].can_progress(k);
  });
}

bool OutChannels::told_of_failure() const {
  return std::ranges::any_of(channels_,
                             [](const OutChannel& e) { return e.receiver_failed.load(std::memory_order_acquire); });
}

void OutChannels::tell_failure() const {
  for (const OutChannel& channel : channels_) {
    if (channel.in != nullptr && !channel.in->sender_failed.exchange(true, std::memory_order_acq_rel))
      channel.receiver->wake();
  }
}

void OutChannels::give_up(std::uint64_t k) {
  std::erase_if(leaving_, [&](std::uint32_t i) {
    return far_number_[i].has_value() || channels_[i].receiver_failed.load(std::memory_order_acquire) ||
           channels_[i].copied(k);
  });
}

void OutChannels::retire() const {
  for (const OutChannel& channel : channels_) {
    if (channel.in != nullptr) channel.in->sender_gone.store(true, std::memory_order_release);
  }
}

bool OutChannels::released() const {
  return std::ranges::all_of(channels_, [](const OutChannel& e) {
    return e.in == nullptr || e.receiver_gone.load(std::memory_order_acquire);
  });
}

}  // namespace urakata::halo
