// SPDX-License-Identifier: BSD-3-Clause
#include "direct/member.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace urakata::direct {

namespace {

constexpr std::uint64_t kPiece = 8192;  // bytes of a result that are computed at a time, so that they stay in the cache

// out = x0 op (x1 op (...)), `bytes` bytes from `at` on of each payload. `out` is no payload, or is that of the last
// rank.
template <class Payloads>
void fold(const Payloads& payloads, std::uint64_t at, std::byte* out, std::uint64_t bytes,
          const reduce::Reducer& reducer) {
  if (bytes == 0) return;
  const std::byte* const last = payloads.back().at + at;
  if (last != out) std::memcpy(out, last, bytes);
  for (std::size_t i = payloads.size() - 1; i != 0; --i) {
    reducer.apply(reducer, payloads[i - 1].at + at, out, bytes / reducer.size);
  }
}

}  // namespace

Member::Member(Board& board, std::uint32_t rank, std::vector<p2p::Port*> ports, const Waiting& waiting)
    : board_(board), rank_(rank), ranks_(board.ranks()), ports_(std::move(ports)), waiting_(waiting) {}

Member::Payload Member::payload_of(const Slot& slot) {
  if (slot.kind != Slot::Kind::address) return {slot.payload, slot.bytes};
  Slot::Addresses addresses;
  std::memcpy(&addresses, slot.payload, sizeof addresses);
  return {addresses.in, addresses.bytes};
}

// Waits until all ranks are done with the operation that was so many operations ago.
void Member::make_room(std::uint64_t operations) {
  if (number_ <= operations || safe_ >= number_ - operations) return;
  const std::uint64_t needed = number_ - operations;
  std::uint64_t least = number_;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_) continue;
    std::uint64_t done = 0;
    await([&] { return (done = board_.seat(rank).done.load(std::memory_order_acquire)) >= needed; });
    least = std::min(least, done);
  }
  safe_ = least;
}

void Member::wake() {
  for (p2p::Port* const port : ports_) {
    if (port != ports_[rank_]) port->wake();
  }
}

void Member::stamp(Slot& slot) {
  slot.stamp.store(number_, std::memory_order_release);
  wake();
}

void Member::post(std::span<const std::byte> payload, std::byte* out) {
  make_room(Seat::kSlots);
  Slot& slot = slot_of(rank_);
  if (payload.size() <= Slot::kInline) {
    slot.kind = Slot::Kind::payload;
    slot.bytes = static_cast<std::uint32_t>(payload.size());
    if (!payload.empty()) std::memcpy(slot.payload, payload.data(), payload.size());
    return stamp(slot);
  }
  Slot::Addresses addresses{payload.data(), out, payload.size()};
  if (is_short(payload.size())) {
    make_room(Seat::kCopies);
    std::byte* const copy = own().copies[number_ % Seat::kCopies];
    std::memcpy(copy, payload.data(), payload.size());
    addresses.in = copy;
  }
  slot.kind = Slot::Kind::address;
  std::memcpy(slot.payload, &addresses, sizeof addresses);
  stamp(slot);
}

const Slot& Member::await_slot(std::uint32_t rank) {
  const Slot& slot = slot_of(rank);
  await([&] { return slot.stamp.load(std::memory_order_acquire) == number_; });
  return slot;
}

// Sets the payloads of all ranks, which must have this length.
Outcome Member::await_payloads(std::uint64_t bytes, std::span<Payload> payloads) {
  Outcome outcome = Outcome::good;
  for (std::uint32_t i = 0; i < ranks_; ++i) {
    const Slot& slot = await_slot(i);
    payloads[i] = payload_of(slot);
    if (slot.kind == Slot::Kind::failed) {
      outcome = Outcome::failed;
    } else if (payloads[i].bytes != bytes && outcome == Outcome::good) {
      outcome = Outcome::truncated;
    }
  }
  safe_ = number_ - 1;  // who has posted this operation is done with the one before
  return outcome;
}

// This rank is done with the operation.
void Member::end() {
  own().done.store(number_, std::memory_order_release);
  wake();
}

// The same, and all other ranks are done, too.
void Member::end_with_all() {
  end();
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    await([&] { return board_.seat(rank).done.load(std::memory_order_acquire) >= number_; });
  }
  safe_ = number_;
}

void Member::fail() {
  ++number_;
  make_room(Seat::kSlots);
  Slot& slot = slot_of(rank_);
  slot.kind = Slot::Kind::failed;
  slot.bytes = 0;
  stamp(slot);
  end();
}

Outcome Member::barrier() {
  ++number_;
  post({}, nullptr);
  std::array<Payload, kMostRanks> payloads;
  const Outcome outcome = await_payloads(0, payloads);
  own().done.store(number_, std::memory_order_release);  // nobody waits for it soon
  return outcome;
}

// The share of the elements that a rank computes: whole cache lines where elements divide them.
Range Member::share(std::uint32_t rank, std::uint64_t bytes, std::uint64_t element) const {
  const std::uint64_t unit = kLine % element == 0 ? kLine : element;
  const std::uint64_t units = (bytes + unit - 1) / unit;
  const std::uint64_t begin = std::min(bytes, units * rank / ranks_ * unit);
  return {begin, std::min(bytes, units * (rank + 1) / ranks_ * unit) - begin};
}

// `inside`: the rank whose payload `out` is; kNowhere: none.
void Member::compute_share(std::span<const Payload> payloads, std::byte* out, std::uint32_t inside, std::uint64_t begin,
                           std::uint64_t end, const reduce::Reducer& reducer) {
  alignas(kLine) std::byte room[kPiece];
  const bool apart = inside != kNowhere && inside + 1 != ranks_;
  const std::uint64_t piece = kPiece / reducer.size * reducer.size;
  for (std::uint64_t at = begin; at < end; at += piece) {
    const std::uint64_t bytes = std::min(piece, end - at);
    fold(payloads, at, apart ? room : out + at, bytes, reducer);
    if (apart) std::memcpy(out + at, room, bytes);
  }
}

Outcome Member::allreduce(const std::byte* in, std::byte* out, std::uint64_t bytes, const reduce::Reducer& reducer) {
  ++number_;
  post({in, bytes}, out);
  std::array<Payload, kMostRanks> room;
  const std::span payloads = std::span(room).first(ranks_);
  const Outcome outcome = await_payloads(bytes, payloads);
  if (outcome != Outcome::good || is_short(bytes)) {
    if (outcome == Outcome::good) fold(payloads, 0, out, bytes, reducer);
    own().done.store(number_, std::memory_order_release);  // nobody waits for it soon
    return outcome;
  }
  const Range mine = share(rank_, bytes, reducer.size);
  compute_share(payloads, out, in == out ? rank_ : kNowhere, mine.offset, mine.offset + mine.bytes, reducer);
  own().computed.store(number_, std::memory_order_release);
  wake();
  for (std::uint32_t i = 1; i < ranks_; ++i) {
    const std::uint32_t from = (rank_ + i) % ranks_;
    const Seat& seat = board_.seat(from);
    await([&] { return seat.computed.load(std::memory_order_acquire) >= number_; });
    Slot::Addresses addresses;
    std::memcpy(&addresses, slot_of(from).payload, sizeof addresses);
    const Range theirs = share(from, bytes, reducer.size);
    std::memcpy(out + theirs.offset, addresses.out + theirs.offset, theirs.bytes);
  }
  end_with_all();
  return Outcome::good;
}

Outcome Member::reduce(const std::byte* in, std::byte* out, std::uint64_t bytes, const reduce::Reducer& reducer,
                       std::uint32_t root) {
  ++number_;
  post({in, bytes}, out);
  const bool at_root = rank_ == root;
  if (is_short(bytes) && !at_root) {
    end();
    return Outcome::good;
  }
  std::array<Payload, kMostRanks> room;
  const std::span payloads = std::span(room).first(ranks_);
  const Outcome outcome = await_payloads(bytes, payloads);
  if (outcome != Outcome::good || is_short(bytes)) {
    if (outcome == Outcome::good) fold(payloads, 0, out, bytes, reducer);
    end();
    return outcome;
  }
  Slot::Addresses addresses;
  std::memcpy(&addresses, slot_of(root).payload, sizeof addresses);
  const Range mine = share(rank_, bytes, reducer.size);
  compute_share(payloads, addresses.out, addresses.in == addresses.out ? root : kNowhere, mine.offset,
                mine.offset + mine.bytes, reducer);
  end_with_all();
  return Outcome::good;
}

Outcome Member::reduce_scatter_block(const std::byte* in, std::byte* out, std::uint64_t bytes,
                                     const reduce::Reducer& reducer) {
  ++number_;
  const std::uint64_t all = bytes * ranks_;
  post({in, all}, nullptr);
  std::array<Payload, kMostRanks> room;
  const std::span payloads = std::span(room).first(ranks_);
  const Outcome outcome = await_payloads(all, payloads);
  if (outcome == Outcome::good) {
    for (Payload& payload : payloads) payload.at += rank_ * bytes;
    compute_share(payloads, out, kNowhere, 0, bytes, reducer);
  }
  if (outcome == Outcome::good && !is_short(all)) {
    end_with_all();
  } else {
    own().done.store(number_, std::memory_order_release);  // nobody waits for it soon
  }
  return outcome;
}

}  // namespace urakata::direct
