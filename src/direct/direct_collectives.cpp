// SPDX-License-Identifier: BSD-3-Clause
#include "direct/direct_collectives.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "direct/folding.hpp"
#include "p2p/prefetch.hpp"

namespace urakata::direct {

Collectives::Collectives(ControlSegment& segment, std::uint32_t rank, std::vector<p2p::Port*> ports,
                         const Waiting& waiting)
    : share_(&segment),
      segment_(segment),
      rank_(rank),
      ranks_(segment.ranks()),
      ports_(std::move(ports)),
      waiting_(waiting),
      nonblocking_(segment, rank, ports_, waiting) {}

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
    payloads[i] = payload_for(rank_, slot);
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
  const Range mine = share_of(rank_, ranks_, bytes, reducer.size);
  compute_share(payloads, out, in == out ? rank_ : kNowhere, mine.offset, mine.offset + mine.bytes, reducer);
  own().computed.store(sequence_, std::memory_order_release);
  wake();
  for (std::uint32_t i = 1; i < ranks_; ++i) {
    const std::uint32_t from = (rank_ + i) % ranks_;
    const ControlBlock& block = segment_.block(from);
    await([&] { return block.computed.load(std::memory_order_acquire) >= sequence_; });
    const Slot::Addresses addresses = addresses_in(slot_of(from));
    const Range theirs = share_of(from, ranks_, bytes, reducer.size);
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
  const Slot::Addresses addresses = addresses_in(slot_of(root));
  const Range mine = share_of(rank_, ranks_, bytes, reducer.size);
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
    std::array<std::byte*, kMostRanks> results;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) results[rank] = addresses_in(slot_of(rank)).out;
    const Range mine = share_of(rank_, ranks_, bytes, reducer.size);
    scan_range(payloads, std::span(results).first(ranks_), mine.offset, mine.bytes, reducer, exclusive);
    end_with_all();
  } else {
    end();
  }
  return outcome;
}

}  // namespace urakata::direct
