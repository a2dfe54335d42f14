// SPDX-License-Identifier: BSD-3-Clause
#include "halo/in_channels.hpp"

#include <algorithm>

#include "halo/far_channels.hpp"

namespace urakata::halo {

namespace {

bool has_short_blocks(const Segment& segment) {
  const layout::Shape* const shape = segment.elements.shape;
  return shape != nullptr && shape->size() < kLine * shape->blocks();
}

}  // namespace

InChannels::InChannels(p2p::Port& port, std::span<const ChannelEnd> ends, std::span<const std::uint32_t> receivers,
                       const Costs& costs, FarChannels* far)
    : far_(far),
      places_(ends, costs.shared_most),
      channels_(places_.channels()),
      far_number_(places_.channels()),
      from_far_(places_.channels()),
      arrivals_(places_.channels(), ends.size()) {
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::uint32_t number = places_.of(i).channel;
    InChannel& channel = channels_[number];
    const Segment& segment = given_.emplace_back(ends[i].segment());
    channel.target.emplace_back();
    channel.bytes += segment.bytes;
    channel.receiver = &port;
    channel.one_way = !std::ranges::binary_search(receivers, ends[i].peer);
    from_far_[number] = !ends[i].near();
    arrivals_.add_end(number, static_cast<std::uint32_t>(i), segment.bytes == 0);
    if (segment.bytes == 0) continue;
    ++sources_;
    if (channel.target.size() == 1) used_.push_back(number);
    if (ends[i].by_wire())
      far_number_[number] = far_->add_in(ends[i].far, segment.elements, segment.bytes, channel.one_way);
  }
  for (InChannel& channel : channels_) channel.piece = p2p::piece_of(channel.bytes, costs.pieces);
  waiting_.reserve(used_.size());
}

void InChannels::assign_bounce_buffers(BounceMemory& memory, const Costs& costs) {
  std::vector<BounceMemory::Facts> facts;
  facts.reserve(channels_.size());
  for (std::uint32_t i = 0; i < channels_.size(); ++i) {
    const auto ends = arrivals_.ends_of(i);
    facts.push_back(
        {.far = far_number_[i].has_value(),
         .short_blocks = std::ranges::any_of(ends, [this](std::uint32_t end) { return has_short_blocks(given_[end]); }),
         .ends = ends.size()});
  }
  // Reserves the bytes for slices as if no channel got bounce buffers: which ones do is only known afterwards.
  memory.assign(channels_, facts, costs, far_ != nullptr ? far_->most_rooms() : 0);
  for (std::uint32_t i = 0; i < channels_.size(); ++i) {
    const InChannel& channel = channels_[i];
    if (far_number_[i] && channel.bounce_bytes != 0)
      far_->set_bounce(*far_number_[i], channel.bounce, channel.bounce_bytes);
  }
}

Fit InChannels::join(std::size_t end, const Record& record) {
  const std::uint32_t number = places_.of(end).channel;
  if (!from_far_[number]) return channels_[number].join(given_[end], *record.channel, record.segment);
  const std::uint64_t bytes = channels_[number].bytes;
  if (record.bytes != bytes) return record.bytes > bytes ? Fit::sender_longer : Fit::sender_shorter;
  if (bytes != 0) far_->join(*far_number_[number], record.sink, record.out);
  return Fit::good;
}

void InChannels::begin(std::uint64_t k, std::byte* to, Counts& counts) {
  waiting_.assign(used_.begin(), used_.end());
  for (const std::uint32_t i : used_) {
    const auto far = far_number_[i];
    far ? far_->begin_in(k, *far, displaced(to, given_[arrivals_.ends_of(i).front()].offset), counts)
        : channels_[i].begin(k, to, counts);
  }
}

bool InChannels::take(std::uint64_t k, std::uint32_t channel, Counts& counts) {
  const auto far = far_number_[channel];
  return far ? far_->here(k, *far) : channels_[channel].take(k, counts);
}

void InChannels::take(std::uint64_t k, Counts& counts) {
  std::size_t kept = 0;
  for (const std::uint32_t i : waiting_) {
    if (take(k, i, counts)) {
      arrivals_.add(i);
    } else {
      waiting_[kept++] = i;
    }
  }
  waiting_.resize(kept);
}

bool InChannels::can_progress(std::uint64_t k) const {
  return std::ranges::any_of(waiting_, [&](std::uint32_t i) {
    const auto far = far_number_[i];
    return far ? far_->here(k, *far) : channels_[i].can_progress(k);
  });
}

bool InChannels::ready(std::uint64_t k, std::size_t end, bool takes, Counts& counts) {
  const std::uint32_t channel = places_.of(end).channel;
  const auto found = std::ranges::find(waiting_, channel);
  if (found == waiting_.end()) return true;
  if (!takes || !take(k, channel, counts)) return false;
  waiting_.erase(found);
  arrivals_.add(channel);
  return true;
}

bool InChannels::told_of_failure() const {
  return std::ranges::any_of(channels_,
                             [](const InChannel& e) { return e.sender_failed.load(std::memory_order_acquire); });
}

void InChannels::tell_failure() const {
  for (const InChannel& channel : channels_) {
    if (channel.out != nullptr && !channel.out->receiver_failed.exchange(true, std::memory_order_acq_rel))
      channel.sender->wake();
  }
}

void InChannels::give_up(std::uint64_t k, Counts& counts) {
  std::erase_if(waiting_, [&](std::uint32_t i) {
    return far_number_[i].has_value() || channels_[i].sender_failed.load(std::memory_order_acquire) ||
           channels_[i].take_after_failure(k, counts);
  });
}

void InChannels::retire() const {
  for (const InChannel& channel : channels_) {
    if (channel.out != nullptr) channel.out->receiver_gone.store(true, std::memory_order_release);
  }
}

bool InChannels::released() const {
  return std::ranges::all_of(
      channels_, [](const InChannel& e) { return e.out == nullptr || e.sender_gone.load(std::memory_order_acquire); });
}

}  // namespace urakata::halo
