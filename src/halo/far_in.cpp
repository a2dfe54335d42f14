// SPDX-License-Identifier: BSD-3-Clause
// The receivers' ends of channels between nodes.
#include <algorithm>

#include "base/mutex.hpp"
#include "halo/far_channels.hpp"

namespace urakata::halo {

namespace {

using transport::Frame;
using transport::FrameKind;

// Flags of a put_open frame, above the number of the receiver's sink: the channel asks, or needs credit.
constexpr std::uint64_t kAsks = std::uint64_t{1} << 32U;
constexpr std::uint64_t kCredit = std::uint64_t{1} << 33U;

constexpr std::uint64_t id_of(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32U | low; }
constexpr std::uint32_t high_of(std::uint64_t id) { return static_cast<std::uint32_t>(id >> 32U); }
constexpr std::uint32_t low_of(std::uint64_t id) { return static_cast<std::uint32_t>(id); }

}  // namespace

FarChannels::Peer& FarChannels::peer(std::int32_t rank) {
  const auto found = std::ranges::find(peers_, rank, &Peer::rank);
  if (found != peers_.end()) return *found;
  Peer& made = peers_.emplace_back();
  made.rank = rank;
  return made;
}

std::uint32_t FarChannels::add_in(std::int32_t rank, const Elements& target, std::uint64_t bytes, bool one_way) {
  In& in = in_.emplace_back();
  in.peer = &peer(rank);
  in.bytes = bytes;
  in.target_before_enter() = target;
  in.one_way = one_way;
  if (target.shape != nullptr) in.peer->most_room = std::max(in.peer->most_room, slice_of(in));
  return static_cast<std::uint32_t>(in_.size() - 1);
}

void FarChannels::set_bounce(std::uint32_t in, std::byte* bounce, std::uint64_t bounce_bytes) {
  in_[in].bounce = bounce;
  in_[in].bounce_bytes = bounce_bytes;
}

std::uint64_t FarChannels::most_rooms() const {
  std::uint64_t all = 0;
  for (const Out& out : out_) all += out.packed.size();
  for (const Peer& one : peers_) all += one.most_room;
  return all;
}

std::uint64_t FarChannels::enter() {
  std::uint64_t all = 0;
  for (In& in : in_) {
    in.peer->tell = in.peer->tell || in.one_way || in.bounce == nullptr;
    if (in.bounce != nullptr || in.target_before_enter().shape == nullptr) continue;
    std::vector<std::byte>& room = in.peer->room;
    room.resize(std::max(room.size(), slice_of(in)));
  }
  for (const Out& out : out_) all += out.packed.size();
  for (const Peer& one : peers_) all += one.room.size();
  number_ = wire_.add(*this);
  return all;
}

void FarChannels::join(std::uint32_t number, std::int32_t sink, std::uint32_t out) {
  const In& in = in_[number];
  in.peer->sink.store(sink, std::memory_order_relaxed);
  const std::uint64_t how = (in.bounce == nullptr ? kAsks : 0) | (in.one_way ? kCredit : 0);
  wire_.put(in.peer->rank,
            {.kind = FrameKind::put_open,
             .tag = sink,
             .bytes = how | static_cast<std::uint32_t>(number_),
             .id = id_of(out, number)},
            nullptr, *this, 0);
}

bool FarChannels::opened(std::int32_t from, const Frame& frame) {
  const std::uint32_t number = high_of(frame.id);
  if (number >= out_.size() || out_[number].peer->rank != from) return false;
  Out& out = out_[number];
  out.in = low_of(frame.id);
  out.asks = (frame.bytes & kAsks) != 0;
  out.credit = (frame.bytes & kCredit) != 0;
  out.sink = static_cast<std::int32_t>(low_of(frame.bytes));
  out.peer->sink.store(out.sink, std::memory_order_relaxed);
  out.open.store(true, std::memory_order_release);
  return true;
}

void FarChannels::begin_in(std::uint64_t k, std::uint32_t number, std::byte* address, Counts& counts) {
  In& in = in_[number];
  const LockGuard guard(lock_);
  Arrival& arrival = in.arrival(*this);
  arrival.target.address = address;
  arrival.begun = k;
  const bool whole = arrival.came >= k;  // the payload of k + 1 may have come, too
  const std::uint64_t buffered = whole ? in.bytes : arrival.at;
  if (buffered == 0) return;
  p2p::unpack({bounce_of(in, k), buffered}, arrival.target, 0);
  ++counts.unpacked;
  if (whole) in.taken.store(k, std::memory_order_release);
}

void FarChannels::tell_ready(std::uint64_t k, Counts& counts) {
  for (Peer& one : peers_) {
    if (!one.tell || one.lost.load(std::memory_order_acquire)) continue;
    wire_.put(one.rank, {.kind = FrameKind::put_ready, .tag = one.sink.load(std::memory_order_relaxed), .id = k},
              nullptr, *this, 0);
    ++counts.ready_flags;
  }
}

// --- the sink: under the wire's lock ---------------------------------------------------------------------------------

FarChannels::In* FarChannels::in_of(std::int32_t from, const Frame& frame) {
  const std::uint32_t number = high_of(frame.id);
  if (number >= in_.size() || in_[number].peer->rank != from) return nullptr;
  return &in_[number];
}

std::byte* FarChannels::place(std::int32_t from, const Frame& frame) {
  In* const in = in_of(from, frame);
  if (in == nullptr) return nullptr;
  const LockGuard guard(lock_);
  Arrival& arrival = in->arrival(*this);
  const std::uint64_t k = arrival.came + 1;
  if (low_of(frame.id) != low_of(k) || frame.bytes > in->bytes - arrival.at) return nullptr;
  arrival.unpacks = arrival.begun != k || arrival.target.shape != nullptr;
  if (!arrival.unpacks) return arrival.target.address + arrival.at;
  if (in->bounce != nullptr) return bounce_of(*in, k) + arrival.at;
  return arrival.begun == k && frame.bytes <= in->peer->room.size() ? in->peer->room.data() : nullptr;
}

bool FarChannels::arrived(std::int32_t from, const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::put:
      return slice_arrived(from, frame);
    case FrameKind::put_open:
      return opened(from, frame);
    case FrameKind::put_ready: {
      const auto found = std::ranges::find(peers_, from, &Peer::rank);
      if (found == peers_.end()) return false;
      found->ready.store(frame.id, std::memory_order_release);
      return true;
    }
    default:
      fail();
      return true;
  }
}

bool FarChannels::slice_arrived(std::int32_t from, const Frame& frame) {
  In& in = *in_of(from, frame);
  const LockGuard guard(lock_);
  Arrival& arrival = in.arrival(*this);
  const std::uint64_t k = arrival.came + 1;
  if (arrival.unpacks && arrival.begun == k) {
    const std::byte* room = in.bounce != nullptr ? bounce_of(in, k) + arrival.at : in.peer->room.data();
    p2p::unpack({room, frame.bytes}, arrival.target, arrival.at);
  }
  arrival.at += frame.bytes;
  if (arrival.at < in.bytes) return true;
  arrival.at = 0;
  arrival.came = k;
  if (arrival.begun == k) in.taken.store(k, std::memory_order_release);
  return true;
}

bool FarChannels::lost(std::int32_t rank) {
  const auto found = std::ranges::find(peers_, rank, &Peer::rank);
  if (found == peers_.end()) return false;
  const bool known = found->lost.exchange(true, std::memory_order_acq_rel);
  fail();
  if (known) return false;
  const LockGuard guard(lock_);
  const auto open = [&](const auto& channel) { return channel.peer == &*found; };
  return std::ranges::any_of(in_,
                             [&](const In& in) {
                               lock_.assert_held();
                               return open(in) && in.arrival(*this).came < in.arrival(*this).begun;
                             }) ||
         std::ranges::any_of(out_, [&](const Out& out) {
           return open(out) && (!out.left.load(std::memory_order_relaxed) || out.held.load(std::memory_order_relaxed));
         });
}

}  // namespace urakata::halo
