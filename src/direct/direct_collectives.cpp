// SPDX-License-Identifier: BSD-3-Clause
#include "direct/direct_collectives.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "p2p/prefetch.hpp"

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

// Copies the table of parts, and the payload behind it.
void copy_parts(std::span<const Slot::Part> parts, std::byte* to) {
  std::byte* at = to + parts.size_bytes();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Slot::Part there{at, parts[i].bytes};
    std::memcpy(to + i * sizeof there, &there, sizeof there);
    if (there.bytes != 0) std::memcpy(at, parts[i].at, there.bytes);
    at += there.bytes;
  }
}

}  // namespace

Collectives::Collectives(ControlSegment& segment, std::uint32_t rank, std::vector<p2p::Port*> ports,
                         const Waiting& waiting)
    : segment_(segment), rank_(rank), ranks_(segment.ranks()), ports_(std::move(ports)), waiting_(waiting) {}

// What this rank may read of what another one has posted.
Collectives::Payload Collectives::payload_of(const Slot& slot) const {
  if (slot.kind == Slot::Kind::payload || slot.kind == Slot::Kind::failed) return {slot.payload, slot.bytes};
  const std::byte* parts = slot.payload;
  if (slot.kind != Slot::Kind::inline_parts) {
    Slot::Addresses addresses;
    std::memcpy(&addresses, slot.payload, sizeof addresses);
    if (slot.kind == Slot::Kind::address) return {addresses.in, addresses.bytes};
    parts = addresses.in;
  }
  Part part;
  std::memcpy(&part, parts + rank_ * sizeof part, sizeof part);
  return part;
}

void Collectives::give_way() { sched_yield(); }

// Waits until all ranks are done with the operation that was so many operations ago.
void Collectives::make_room(std::uint64_t operations) {
  if (sequence_ <= operations || safe_ >= sequence_ - operations) return;
  const std::uint64_t needed = sequence_ - operations;
  std::uint64_t least = sequence_;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_) continue;
    std::uint64_t done = 0;
    await([&] { return (done = segment_.block(rank).done.load(std::memory_order_acquire)) >= needed; });
    least = std::min(least, done);
  }
  safe_ = least;
}

void Collectives::wake() {
  for (p2p::Port* const port : ports_) {
    if (port != ports_[rank_]) port->wake();
  }
}

void Collectives::publish(Slot& slot) {
  slot.sequence.store(sequence_, std::memory_order_release);
  wake();
  p2p::prefetch_to_write(&own().slots[(sequence_ + 1) % ControlBlock::kSlots]);  // the next operation's
}

void Collectives::post(std::span<const std::byte> payload, std::byte* out) {
  make_room(ControlBlock::kSlots);
  Slot& slot = slot_of(rank_);
  if (payload.size() <= Slot::kInline) {
    slot.kind = Slot::Kind::payload;
    slot.bytes = static_cast<std::uint32_t>(payload.size());
    if (!payload.empty()) std::memcpy(slot.payload, payload.data(), payload.size());
    return publish(slot);
  }
  Slot::Addresses addresses{payload.data(), out, payload.size()};
  if (is_eager(payload.size())) {
    make_room(ControlBlock::kBounceBuffers);
    std::byte* const bounce = own().bounces[sequence_ % ControlBlock::kBounceBuffers];
    std::memcpy(bounce, payload.data(), payload.size());
    addresses.in = bounce;
  }
  slot.kind = Slot::Kind::address;
  std::memcpy(slot.payload, &addresses, sizeof addresses);
  publish(slot);
}

// False: the parts stay where they are, until all ranks are done.
bool Collectives::post_parts(std::span<const Part> parts) {
  make_room(ControlBlock::kSlots);
  Slot& slot = slot_of(rank_);
  std::uint64_t bytes = parts.size_bytes();
  for (const Part& part : parts) bytes += part.bytes;
  if (bytes <= Slot::kInline) {
    slot.kind = Slot::Kind::inline_parts;
    copy_parts(parts, slot.payload);
    publish(slot);
    return true;
  }
  Slot::Addresses addresses{reinterpret_cast<const std::byte*>(parts.data()), nullptr, parts.size_bytes()};
  const bool eager = is_eager(bytes);
  if (eager) {
    make_room(ControlBlock::kBounceBuffers);
    std::byte* const bounce = own().bounces[sequence_ % ControlBlock::kBounceBuffers];
    copy_parts(parts, bounce);
    addresses.in = bounce;
  }
  slot.kind = Slot::Kind::parts;
  std::memcpy(slot.payload, &addresses, sizeof addresses);
  publish(slot);
  return eager;
}

const Slot& Collectives::await_slot(std::uint32_t rank) {
  const Slot& slot = slot_of(rank);
  await([&] { return slot.sequence.load(std::memory_order_acquire) == sequence_; });
  return slot;
}

// Sets the payloads of the first ranks, as many as `payloads` has room for. They must have this length.
Outcome Collectives::await_lower_payloads(std::uint64_t bytes, std::span<Payload> payloads) {
  Outcome outcome = Outcome::good;
  for (std::uint32_t i = 0; i < payloads.size(); ++i) {
    const Slot& slot = await_slot(i);
    payloads[i] = payload_of(slot);
    if (slot.kind == Slot::Kind::failed) {
      outcome = Outcome::failed;
    } else if (payloads[i].bytes != bytes && outcome == Outcome::good) {
      outcome = Outcome::truncated;
    }
  }
  return outcome;
}

// The same for all ranks.
Outcome Collectives::await_payloads(std::uint64_t bytes, std::span<Payload> payloads) {
  const Outcome outcome = await_lower_payloads(bytes, payloads);
  safe_ = sequence_ - 1;  // who has posted this operation is done with the one before
  return outcome;
}

// This rank is done with the operation.
void Collectives::end() {
  own().done.store(sequence_, std::memory_order_release);
  wake();
}

// The same, and all other ranks are done, too.
void Collectives::end_with_all() {
  end();
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    await([&] { return segment_.block(rank).done.load(std::memory_order_acquire) >= sequence_; });
  }
  safe_ = sequence_;
}

void Collectives::fail() {
  ++sequence_;
  make_room(ControlBlock::kSlots);
  Slot& slot = slot_of(rank_);
  slot.kind = Slot::Kind::failed;
  slot.bytes = 0;
  publish(slot);
  end();
}

Outcome Collectives::barrier() {
  ++sequence_;
  post({}, nullptr);
  std::array<Payload, kMostRanks> payloads;
  const Outcome outcome = await_payloads(0, std::span(payloads).first(ranks_));
  own().done.store(sequence_, std::memory_order_release);  // nobody waits for it soon
  return outcome;
}

// The share of the elements that a rank computes: whole cache lines where elements divide them.
Range Collectives::share(std::uint32_t rank, std::uint64_t bytes, std::uint64_t element) const {
  const std::uint64_t unit = kLine % element == 0 ? kLine : element;
  const std::uint64_t units = (bytes + unit - 1) / unit;
  const std::uint64_t begin = std::min(bytes, units * rank / ranks_ * unit);
  return {begin, std::min(bytes, units * (rank + 1) / ranks_ * unit) - begin};
}

// `inside`: the rank whose payload `out` is; kNowhere: none.
void Collectives::compute_share(std::span<const Payload> payloads, std::byte* out, std::uint32_t inside,
                                std::uint64_t begin, std::uint64_t end, const reduce::Reducer& reducer) {
  alignas(kLine) std::byte room[kPiece];
  const bool apart = inside != kNowhere && inside + 1 != ranks_;
  const std::uint64_t piece = kPiece / reducer.size * reducer.size;
  for (std::uint64_t at = begin; at < end; at += piece) {
    const std::uint64_t bytes = std::min(piece, end - at);
    fold(payloads, at, apart ? room : out + at, bytes, reducer);
    if (apart) std::memcpy(out + at, room, bytes);
  }
}

Outcome Collectives::allreduce(const std::byte* in, std::byte* out, std::uint64_t bytes,
                               const reduce::Reducer& reducer) {
  ++sequence_;
  post({in, bytes}, out);
  std::array<Payload, kMostRanks> room;
  const std::span payloads = std::span(room).first(ranks_);
  const Outcome outcome = await_payloads(bytes, payloads);
  if (outcome != Outcome::good || is_eager(bytes)) {
    if (outcome == Outcome::good) fold(payloads, 0, out, bytes, reducer);
    own().done.store(sequence_, std::memory_order_release);  // nobody waits for it soon
    return outcome;
  }
  const Range mine = share(rank_, bytes, reducer.size);
  compute_share(payloads, out, in == out ? rank_ : kNowhere, mine.offset, mine.offset + mine.bytes, reducer);
  own().computed.store(sequence_, std::memory_order_release);
  wake();
  for (std::uint32_t i = 1; i < ranks_; ++i) {
    const std::uint32_t from = (rank_ + i) % ranks_;
    const ControlBlock& block = segment_.block(from);
    await([&] { return block.computed.load(std::memory_order_acquire) >= sequence_; });
    Slot::Addresses addresses;
    std::memcpy(&addresses, slot_of(from).payload, sizeof addresses);
    const Range theirs = share(from, bytes, reducer.size);
    std::memcpy(out + theirs.offset, addresses.out + theirs.offset, theirs.bytes);
  }
  end_with_all();
  return Outcome::good;
}

Outcome Collectives::reduce(const std::byte* in, std::byte* out, std::uint64_t bytes, const reduce::Reducer& reducer,
                            std::uint32_t root) {
  ++sequence_;
  post({in, bytes}, out);
  const bool at_root = rank_ == root;
  if (is_eager(bytes) && !at_root) {
    end();
    return Outcome::good;
  }
  std::array<Payload, kMostRanks> room;
  const std::span payloads = std::span(room).first(ranks_);
  const Outcome outcome = await_payloads(bytes, payloads);
  if (outcome != Outcome::good || is_eager(bytes)) {
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

Outcome Collectives::reduce_scatter(const std::byte* in, std::byte* out, std::uint64_t bytes, std::uint64_t offset,
                                    std::uint64_t all, const reduce::Reducer& reducer) {
  ++sequence_;
  post({in, all}, nullptr);
  std::array<Payload, kMostRanks> room;
  const std::span payloads = std::span(room).first(ranks_);
  const Outcome outcome = await_payloads(all, payloads);
  if (outcome == Outcome::good) {
    for (Payload& payload : payloads) payload.at += offset;
    compute_share(payloads, out, kNowhere, 0, bytes, reducer);
  }
  if (outcome == Outcome::good && !is_eager(all)) {
    end_with_all();
  } else {
    own().done.store(sequence_, std::memory_order_release);  // nobody waits for it soon
  }
  return outcome;
}

// This share of the elements of the results of all ranks.
void Collectives::scan_share(std::span<const Payload> payloads, Range share, const reduce::Reducer& reducer,
                             bool exclusive) {
  alignas(kLine) std::byte room[2][kPiece];  // the reduction of the operands before the present one, and with it
  const std::uint64_t piece = kPiece / reducer.size * reducer.size;
  for (std::uint64_t at = share.offset; at < share.offset + share.bytes; at += piece) {
    const std::uint64_t bytes = std::min(piece, share.offset + share.bytes - at);
    std::byte* before = room[0];
    std::byte* with = room[1];
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      std::memcpy(with, payloads[rank].at + at, bytes);
      if (rank != 0) reducer.apply(reducer, before, with, bytes / reducer.size);
      Slot::Addresses addresses;
      std::memcpy(&addresses, slot_of(rank).payload, sizeof addresses);
      if (!exclusive || rank != 0) std::memcpy(addresses.out + at, exclusive ? before : with, bytes);
      std::swap(before, with);
    }
  }
}

Outcome Collectives::scan(const std::byte* in, std::byte* out, std::uint64_t bytes, const reduce::Reducer& reducer,
                          bool exclusive) {
  ++sequence_;
  post({in, bytes}, out);
  std::array<Payload, kMostRanks> room;
  if (is_eager(bytes)) {
    const std::span payloads = std::span(room).first(exclusive ? rank_ : rank_ + 1);
    const Outcome outcome = await_lower_payloads(bytes, payloads);
    if (outcome == Outcome::good && !payloads.empty()) fold(payloads, 0, out, bytes, reducer);
    end();
    return outcome;
  }
  const std::span payloads = std::span(room).first(ranks_);
  const Outcome outcome = await_payloads(bytes, payloads);
  if (outcome == Outcome::good) {
    scan_share(payloads, share(rank_, bytes, reducer.size), reducer, exclusive);
    end_with_all();
  } else {
    end();
  }
  return outcome;
}

}  // namespace urakata::direct
