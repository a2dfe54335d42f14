// SPDX-License-Identifier: BSD-3-Clause
// One rank's part in the blocking collectives of a communicator whose ranks share a space (control_segment.hpp).
//
// Payloads. A rank posts its payload, and others read it where it is:
//   up to Slot::kInline bytes                in the slot: a cache line or two bring the sequence number and the payload
//   up to ControlBlock::kBounceBytes bytes   in a bounce buffer: the rank need not wait for its readers
//   more                                     in the rank's own buffer: it waits until its readers are done
// So short operations end without a second exchange of flags, and long ones move each byte once.
//
// A rank whose payload differs for each receiver posts a table of parts. A short payload goes with its table into the
// slot or a bounce buffer.
//
// Reductions. Operands keep the order of the ranks, and are grouped from the right: x0 op (x1 op (x2 op ...)). The same
// code computes each element once, or from equal operands on each rank, so all ranks get the same bits. Of a long
// reduction each rank computes a share of the elements from all payloads, and the others copy it from where it lies. Of
// a long scan each rank computes a share of the elements of all results.
//
// All ranks of the communicator call the same functions in the same order, with the same lengths. A rank that finds
// another length reports it and reads nothing beyond what was posted.
//
// Thread-safety: by one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "direct/control_segment.hpp"
#include "direct/operations.hpp"
#include "direct/waiting.hpp"
#include "p2p/port.hpp"
#include "reduce/reducer.hpp"

namespace urakata::direct {

class Collectives {
 public:
  // Takes over one leave() of the segment. `ports`: of all ranks.
  Collectives(ControlSegment& segment, std::uint32_t rank, std::vector<p2p::Port*> ports, const Waiting& waiting);
  ~Collectives() = default;
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }

  // Of the communicator, for all its ranks. Operations that wait already are not interrupted.
  void revoke() { segment_.revoke(); }
  bool revoked() const { return segment_.revoked(); }

  // The non-blocking operations of the same communicator, which have an order of their own.
  Operations& nonblocking() { return nonblocking_; }

  Outcome barrier();

  // Reductions of `bytes` bytes of contiguous elements, each of kElement bytes at most. In place: `in` is `out`.
  static constexpr std::uint64_t kElement = 4096;
  Outcome allreduce(const std::byte* in, std::byte* out, std::uint64_t bytes, const reduce::Reducer& reducer);
  // `out` counts at the root only.
  Outcome reduce(const std::byte* in, std::byte* out, std::uint64_t bytes, const reduce::Reducer& reducer,
                 std::uint32_t root);

  // `in` has `all` bytes, a block for each rank. `out` gets the reduction of this rank's blocks, which have `bytes` bytes
  // from `offset` on, and is not in `in`.
  Outcome reduce_scatter(const std::byte* in, std::byte* out, std::uint64_t bytes, std::uint64_t offset,
                         std::uint64_t all, const reduce::Reducer& reducer);

  // Of the operands of this rank and all lower ones; exclusive: of all lower ones only, and rank 0 writes no result.
  Outcome scan(const std::byte* in, std::byte* out, std::uint64_t bytes, const reduce::Reducer& reducer,
               bool exclusive);

  // Posts `*own`, unless it is nullptr, and calls `take(rank, from, bytes)` for the range `range_of(rank)` of the
  // payload of each rank of [first, end) but this one; `bytes` is less where that rank has posted less. `take` must not
  // write to `*own` unless that is_eager().
  template <class RangeOf, class Take>
  Outcome move(const std::span<const std::byte>* own, std::uint32_t first, std::uint32_t end, RangeOf range_of,
               Take take);
  static bool is_eager(std::uint64_t bytes) { return bytes <= ControlBlock::kBounceBytes; }

  using Part = Slot::Part;
  // The same, where each rank takes its part of a payload as a whole: `own` is empty, or has a part for each rank.
  // `take` must not write to parts.
  template <class RangeOf, class Take>
  Outcome move_parts(std::span<const Part> own, std::uint32_t first, std::uint32_t end, RangeOf range_of, Take take);

  // Takes this rank's place in an operation that it cannot perform. The operation fails on all ranks that read from
  // this one.
  void fail();

 private:
  using Payload = Slot::Part;
  static constexpr std::uint32_t kNowhere = ~0U;

  ControlBlock& own() { return segment_.block(rank_); }
  Slot& slot_of(std::uint32_t rank) { return segment_.block(rank).slots[sequence_ % ControlBlock::kSlots]; }

  template <class Over>
  void await(Over over) {
    waiting_.await(over);
  }

  void make_room(std::uint64_t operations);
  void post(std::span<const std::byte> payload, std::byte* out);
  bool post_parts(std::span<const Part> parts);
  template <class RangeOf, class Take>
  Outcome take_payloads(std::uint32_t first, std::uint32_t end, RangeOf range_of, Take take);
  void publish(Slot& slot);
  const Slot& await_slot(std::uint32_t rank);
  Outcome await_payloads(std::uint64_t bytes, std::span<Payload> payloads);
  Outcome await_lower_payloads(std::uint64_t bytes, std::span<Payload> payloads);
  void end();
  void end_with_all();
  void wake();
  void compute_share(std::span<const Payload> payloads, std::byte* out, std::uint32_t inside, std::uint64_t begin,
                     std::uint64_t end, const reduce::Reducer& reducer);

  struct Leave {
    void operator()(ControlSegment* segment) const { segment->leave(); }
  };
  const std::unique_ptr<ControlSegment, Leave> share_;  // the first member, so that the segment is left last
  ControlSegment& segment_;
  const std::uint32_t rank_;
  const std::uint32_t ranks_;
  std::uint64_t sequence_ = 0;  // of the present operation
  std::uint64_t safe_ = 0;      // all ranks are done with this operation and earlier ones
  const std::vector<p2p::Port*> ports_;
  const Waiting waiting_;
  Operations nonblocking_;
};

template <class RangeOf, class Take>
Outcome Collectives::take_payloads(std::uint32_t first, std::uint32_t end, RangeOf range_of, Take take) {
  Outcome outcome = Outcome::good;
  for (std::uint32_t i = 1; i < ranks_; ++i) {  // each rank begins at another one
    const std::uint32_t from = (rank_ + i) % ranks_;
    if (from < first || from >= end) continue;
    const std::span<const std::byte> come = direct::range_of(await_slot(from), rank_, range_of(from), &outcome);
    if (!come.empty()) take(from, come.data(), come.size());
  }
  return outcome;
}

template <class RangeOf, class Take>
Outcome Collectives::move(const std::span<const std::byte>* own, std::uint32_t first, std::uint32_t end,
                          RangeOf range_of, Take take) {
  ++sequence_;
  if (own != nullptr) post(*own, nullptr);
  const Outcome outcome = take_payloads(first, end, range_of, take);
  if (own != nullptr && !is_eager(own->size())) {
    end_with_all();
  } else {
    this->end();
  }
  return outcome;
}

template <class RangeOf, class Take>
Outcome Collectives::move_parts(std::span<const Part> own, std::uint32_t first, std::uint32_t end, RangeOf range_of,
                                Take take) {
  ++sequence_;
  const bool eager = own.empty() || post_parts(own);
  const Outcome outcome = take_payloads(first, end, range_of, take);
  if (eager) {
    this->end();
  } else {
    end_with_all();
  }
  return outcome;
}

}  // namespace urakata::direct
