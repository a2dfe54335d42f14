// SPDX-License-Identifier: BSD-3-Clause
#include "halo/neighbourhood_channel.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "halo/far_channels.hpp"

namespace urakata::halo {

namespace {

bool has_short_blocks(const Segment& segment) {
  const layout::Shape* const shape = segment.elements.shape;
  return shape != nullptr && shape->size() < kLine * shape->blocks();
}

constexpr std::uint64_t whole_lines(std::uint64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

}  // namespace

// The channel of each endpoint. Both ranks of a channel decide alike, since the decision rests on sums of bytes only.
NeighbourhoodChannel::Places NeighbourhoodChannel::places_of(std::span<const ChannelEnd> ends,
                                                             std::uint64_t shared_most) {
  struct Shared {
    std::uint64_t bytes = 0;
    std::uint32_t segments = 0;
    std::uint32_t channel = 0;
  };
  std::map<std::uint32_t, Shared> by_peer;
  const auto shared_with = [&](const ChannelEnd& end) -> Shared* {
    return end.near() && end.bytes() != 0 ? &by_peer[end.peer] : nullptr;
  };
  for (const ChannelEnd& end : ends) {
    if (Shared* const shared = shared_with(end)) shared->bytes += end.bytes();
  }
  Places places;
  places.of.reserve(ends.size());
  for (const ChannelEnd& end : ends) {
    Shared* const shared = shared_with(end);
    if (shared == nullptr || shared->bytes >= shared_most) {
      places.of.push_back({places.channels++, 0});
      continue;
    }
    if (shared->segments == 0) shared->channel = places.channels++;
    places.of.push_back({shared->channel, shared->segments++});
  }
  return places;
}

NeighbourhoodChannel::NeighbourhoodChannel(p2p::Port& port, std::span<const ChannelEnd> out,
                                           std::span<const ChannelEnd> in, const Costs& costs, transport::PutWire* wire)
    : port_(port),
      out_places_(places_of(out, costs.shared_most)),
      in_places_(places_of(in, costs.shared_most)),
      out_(out_places_.channels),
      in_(in_places_.channels),
      ends_(in_.size()),
      from_far_(in_.size()) {
  if (wire != nullptr &&
      (std::ranges::any_of(out, &ChannelEnd::by_wire) || std::ranges::any_of(in, &ChannelEnd::by_wire))) {
    far_ = std::make_unique<FarChannels>(*wire);
    out_number_.resize(out_.size(), kNear);
    in_number_.resize(in_.size(), kNear);
    for (const auto& ends : {out, in}) {
      for (const ChannelEnd& end : ends) longest_far_ = std::max(longest_far_, end.by_wire() ? end.bytes() : 0);
    }
  }
  std::vector<std::uint32_t> receivers;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t number = out_places_.of[i].channel;
    OutChannel& channel = out_[number];
    const Segment& segment = channel.source.emplace_back(out[i].segment());
    channel.target.emplace_back();
    channel.fit.push_back(Fit::open);
    channel.bytes += segment.bytes;
    channel.sender = &port;
    if (segment.bytes == 0) continue;
    receivers.push_back(out[i].peer);
    if (channel.source.size() == 1) sending_.push_back(number);
    if (out[i].by_wire()) out_number_[number] = far_->add_out(out[i].far, segment.elements, segment.bytes);
  }
  std::sort(receivers.begin(), receivers.end());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint32_t number = in_places_.of[i].channel;
    InChannel& channel = in_[number];
    const Segment& segment = given_.emplace_back(in[i].segment());
    channel.target.emplace_back();
    channel.bytes += segment.bytes;
    channel.receiver = &port;
    channel.one_way = !std::binary_search(receivers.begin(), receivers.end(), in[i].peer);
    ends_[number].push_back(static_cast<std::uint32_t>(i));
    from_far_[number] = !in[i].near();
    if (segment.bytes == 0) {
      empty_.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    ++sources_;
    if (channel.target.size() == 1) receiving_.push_back(number);
    if (in[i].by_wire()) in_number_[number] = far_->add_in(in[i].far, segment.elements, segment.bytes, channel.one_way);
  }
  for (InChannel& channel : in_) channel.piece = p2p::piece_of(channel.bytes, costs.pieces);
  near_ = sending_.size() + receiving_.size() != (far_ != nullptr ? far_->size() : 0);
  assign_bounce_buffers(costs);
  waiting_.reserve(receiving_.size());
  leaving_.reserve(sending_.size());
  arrived_.reserve(in.size());
}

NeighbourhoodChannel::~NeighbourhoodChannel() = default;

bool NeighbourhoodChannel::failed() const {
  return failed_.load(std::memory_order_relaxed) || (far_ != nullptr && far_->failed());
}

std::size_t NeighbourhoodChannel::from_far() const { return far_ != nullptr ? far_->sources() : 0; }

void NeighbourhoodChannel::assign_bounce_buffers(const Costs& costs) {
  bounce_buffers_.budget = costs.bounce_budget;
  // Assumes that no channel gets bounce buffers: which ones do is only known below.
  std::uint64_t taken = far_ != nullptr ? far_->most_rooms() : 0;
  std::uint64_t places = 0;
  std::vector<std::uint32_t> shortest_first(in_.size());
  std::iota(shortest_first.begin(), shortest_first.end(), 0);
  std::ranges::sort(shortest_first, {}, [this](std::uint32_t i) { return std::pair(in_[i].bytes, i); });
  for (const std::uint32_t i : shortest_first) {
    InChannel& channel = in_[i];
    const bool far = far_in(i);
    channel.direct = channel.bytes > kInSlot;
    if (channel.bytes == 0 || (!far && channel.bytes <= kInSlot)) continue;  // needs none
    const bool short_blocks =
        !far && channel.bytes <= costs.short_bounce_most &&
        std::ranges::any_of(ends_[i], [this](std::uint32_t end) { return has_short_blocks(given_[end]); });
    if (!far && !channel.one_way && !short_blocks && channel.bytes >= costs.pull_least) {  // needs none
      channel.pulls = true;
      channel.piece = channel.bytes;
      continue;
    }
    const std::uint64_t room = whole_lines(channel.bytes);
    const bool bounces = short_blocks || channel.bytes <= (far ? costs.far_bounce_most : costs.bounce_most);
    if (!bounces || taken + 2 * room > costs.bounce_budget) {
      bounce_buffers_.without += ends_[i].size();
      bounce_buffers_.refused += bounces ? ends_[i].size() : 0;
      continue;
    }
    channel.bounce_bytes = room;
    channel.direct = !short_blocks && channel.bytes >= costs.direct_least;
    taken += 2 * room;
    places += 2 * room;
  }
  if (places != 0) bounce_memory_ = std::make_unique_for_overwrite<Line[]>(places / kLine);
  std::byte* next = places != 0 ? bounce_memory_[0].bytes : nullptr;
  for (std::uint32_t i = 0; i < in_.size(); ++i) {
    InChannel& channel = in_[i];
    if (channel.bounce_bytes == 0) continue;
    channel.bounce = next;
    next += 2 * channel.bounce_bytes;
    if (far_in(i)) far_->set_bounce(in_number_[i], channel.bounce, channel.bounce_bytes);
  }
  bounce_buffers_.bytes = places + (far_ != nullptr ? far_->enter() : 0);
}

Record NeighbourhoodChannel::record(std::size_t out) {
  const auto [number, segment] = out_places_.of[out];
  Record made{.channel = &out_[number], .bytes = out_[number].source[segment].bytes, .segment = segment};
  if (far_out(number)) {
    made.sink = far_->number();
    made.out = out_number_[number];
    far_->await_join(made.out);
  }
  return made;
}

Fit NeighbourhoodChannel::join(std::size_t in, const Record& record) {
  const std::uint32_t number = in_places_.of[in].channel;
  if (!from_far_[number]) return in_[number].join(given_[in], *record.channel, record.segment);
  const std::uint64_t bytes = in_[number].bytes;
  if (record.bytes != bytes) return record.bytes > bytes ? Fit::sender_longer : Fit::sender_shorter;
  if (bytes != 0) far_->join(in_number_[number], record.sink, record.out);
  return Fit::good;
}

Fit NeighbourhoodChannel::fit(std::size_t out) const {
  return out_[out_places_.of[out].channel].fit[out_places_.of[out].segment];
}

void NeighbourhoodChannel::begin(const std::byte* from, std::byte* to) {
  const std::uint64_t k = ++exchange_;
  ++counts_.exchanges;
  told_ = 0;
  in_vain_ = 0;
  arrived_.assign(empty_.begin(), empty_.end());
  if (failed()) return end_failed();
  waiting_.assign(receiving_.begin(), receiving_.end());
  for (const std::uint32_t i : sending_) {
    if (out_[i].direct || out_[i].credit) __builtin_prefetch(&out_[i].ready);
  }
  for (const std::uint32_t i : receiving_) {
    far_in(i) ? far_->begin_in(k, in_number_[i], displaced(to, given_[ends_[i].front()].offset), counts_)
              : in_[i].begin(k, to, counts_);
  }
  if (far_ != nullptr) far_->tell_ready(k, counts_);
  for (const std::uint32_t i : sending_) {
    counts_.bytes += out_[i].bytes;
    const bool left = far_out(i)
                          ? far_->begin_out(k, out_number_[i], displaced(from, out_[i].source[0].offset), counts_)
                          : out_[i].begin(k, from, counts_);
    if (!left) leaving_.push_back(i);
  }
  // Copies for rendezvous with neighbours that have begun already, after the puts to all other neighbours.
  if (!leaving_.empty()) std::erase_if(leaving_, [this](std::uint32_t i) { return advance(i, false); });
}

bool NeighbourhoodChannel::take(std::uint32_t in) {
  return far_in(in) ? far_->here(exchange_, in_number_[in]) : in_[in].take(exchange_, counts_);
}

bool NeighbourhoodChannel::advance(std::uint32_t out, bool late) {
  return far_out(out) ? far_->advance(exchange_, out_number_[out], counts_)
                      : out_[out].advance(exchange_, late, counts_);
}

bool NeighbourhoodChannel::told_of_failure() {
  if (!failed() &&
      std::ranges::none_of(out_,
                           [](const OutChannel& e) { return e.receiver_failed.load(std::memory_order_acquire); }) &&
      std::ranges::none_of(in_, [](const InChannel& e) { return e.sender_failed.load(std::memory_order_acquire); })) {
    return false;
  }
  failed_.store(true, std::memory_order_relaxed);
  return true;
}

// Invariant 7 of channel.hpp. A neighbour that has completed the exchange may not say for long that it has failed. Its
// payloads have come by then, and those to it have left.
void NeighbourhoodChannel::end_failed() {
  failed_.store(true, std::memory_order_relaxed);
  for (const OutChannel& channel : out_) {
    if (channel.in != nullptr && !channel.in->sender_failed.exchange(true, std::memory_order_acq_rel))
      channel.receiver->wake();
  }
  for (const InChannel& channel : in_) {
    if (channel.out != nullptr && !channel.out->receiver_failed.exchange(true, std::memory_order_acq_rel))
      channel.sender->wake();
  }
  if (far_ != nullptr && !far_->give_up()) return;
  std::erase_if(waiting_, [this](std::uint32_t i) {
    return far_in(i) || in_[i].sender_failed.load(std::memory_order_acquire) || in_[i].take_here(exchange_, counts_);
  });
  std::erase_if(leaving_, [this](std::uint32_t i) {
    return far_out(i) || out_[i].receiver_failed.load(std::memory_order_acquire) || out_[i].copied(exchange_);
  });
}

bool NeighbourhoodChannel::progress() {
  constexpr unsigned kLong = 16;    // calls without progress after which a neighbour that should pull probably computes
  constexpr unsigned kSeldom = 64;  // calls without progress between two checks for failures
  const std::size_t before = waiting_.size() + leaving_.size();
  if (before == 0) return false;
  const bool late = in_vain_ >= kLong;
  if (!failed()) {
    std::erase_if(waiting_, [this](std::uint32_t i) {
      if (!take(i)) return false;
      arrived(i);
      return true;
    });
    std::erase_if(leaving_, [this, late](std::uint32_t i) { return advance(i, late); });
  }
  if (waiting_.size() + leaving_.size() != before) return true;
  if (failed() || (++in_vain_ % kSeldom == 0 && told_of_failure())) end_failed();
  return waiting_.size() + leaving_.size() != before;
}

bool NeighbourhoodChannel::readiness() const {
  return std::ranges::any_of(waiting_,
                             [this](std::uint32_t i) {
                               return far_in(i) ? far_->here(exchange_, in_number_[i]) : in_[i].readiness(exchange_);
                             }) ||
         std::ranges::any_of(leaving_,
                             [this](std::uint32_t i) {
                               return far_out(i) ? far_->readiness(exchange_, out_number_[i])
                                                 : out_[i].readiness(exchange_);
                             }) ||
         (!complete() && failed());
}

void NeighbourhoodChannel::wait(const p2p::BackoffSettings& settings) {
  p2p::Backoff backoff(port_, settings);
  while (!complete()) {
    if (progress()) {
      backoff.restart();
    } else {
      backoff.step([&] { return readiness(); });
    }
  }
}

bool NeighbourhoodChannel::ready(std::size_t in) {
  const std::uint32_t channel = in_places_.of[in].channel;
  const auto found = std::find(waiting_.begin(), waiting_.end(), channel);
  if (found == waiting_.end()) return true;
  if (!failed() && take(channel)) {
    waiting_.erase(found);
    arrived(channel);
    return true;
  }
  progress();
  return std::ranges::find(waiting_, channel) == waiting_.end();
}

std::optional<std::size_t> NeighbourhoodChannel::ready_any() {
  if (told_ == arrived_.size()) progress();
  if (told_ == arrived_.size()) return std::nullopt;
  return arrived_[told_++];
}

void NeighbourhoodChannel::retire() {
  for (const OutChannel& channel : out_) {
    if (channel.in != nullptr) channel.in->sender_gone.store(true, std::memory_order_release);
  }
  for (const InChannel& channel : in_) {
    if (channel.out != nullptr) channel.out->receiver_gone.store(true, std::memory_order_release);
  }
}

bool NeighbourhoodChannel::released() const {
  const auto left = [](const void* peer, const std::atomic<bool>& gone) {
    return peer == nullptr || gone.load(std::memory_order_acquire);
  };
  return std::ranges::all_of(out_, [&](const OutChannel& e) { return left(e.in, e.receiver_gone); }) &&
         std::ranges::all_of(in_, [&](const InChannel& e) { return left(e.out, e.sender_gone); });
}

}  // namespace urakata::halo
