// SPDX-License-Identifier: BSD-3-Clause
#include "direct/operations.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "base/threads.hpp"
#include "direct/folding.hpp"

namespace urakata::direct {

namespace {

using Shape = Operation::Shape;
using Ranks = Operation::Ranks;

// The objects of this process.
struct All {
  Mutex lock;
  Operations* first URAKATA_GUARDED_BY(lock) = nullptr;
  std::atomic<std::uint32_t> under_way{0};  // operations
};
All& all() {
  static auto* const made = new All;  // never destroyed: a progress thread may outlive static objects
  return *made;
}

Ranks bit(std::uint32_t rank) { return Ranks{1} << rank; }

// Calls `visit(rank)` for each rank of the set.
template <class Visit>
void for_each(Ranks ranks, Visit visit) {
  for (; ranks != 0; ranks &= ranks - 1) visit(static_cast<std::uint32_t>(std::countr_zero(ranks)));
}

bool is_scan(Shape shape) { return shape == Shape::scan || shape == Shape::exscan; }
bool is_reduction(Shape shape) { return shape >= Shape::allreduce && shape <= Shape::exscan; }

}  // namespace

Operations::Operations(ControlSegment& segment, std::uint32_t rank, std::vector<p2p::Port*> ports,
                       const Waiting& waiting)
    : segment_(segment), rank_(rank), ports_(std::move(ports)), waiting_(waiting) {
  const LockGuard guard(all().lock);
  next_ = std::exchange(all().first, this);
}

Operations::~Operations() {
  const LockGuard guard(all().lock);
  const LockGuard last(lock_);  // a thread may have ended the last operation, and be about to leave step()
  Operations** at = &all().first;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

bool Operations::any_under_way() { return all().under_way.load(std::memory_order_relaxed) != 0; }

bool Operations::progress_all(Caller caller) {
  if (!any_under_way() || !all().lock.try_lock()) return false;
  const LockGuard guard(all().lock, std::adopt_lock);
  bool moved = false;
  for (Operations* each = all().first; each != nullptr; each = each->next_) moved = each->progress(caller) || moved;
  return moved;
}

void Operations::wake() {
  for (p2p::Port* const port : ports_) {
    if (port != ports_[rank_]) port->wake();
  }
}

bool Operations::start(Operation& operation) {
  operation.posted_ = operation.divided_ = operation.computed_ = false;
  operation.next_ = nullptr;
  operation.outcome_ = Outcome::good;
  operation.finished_.store(false, std::memory_order_relaxed);
  all().under_way.fetch_add(1, std::memory_order_relaxed);
  under_way_.fetch_add(1, std::memory_order_relaxed);
  const LockGuard guard(lock_);
  operation.sequence_ = ++sequence_;
  *end_ = &operation;
  end_ = &operation.next_;
  step(Caller::program);
  // A rank that is so far ahead of the others that it has no posting gives them some time.
  for (unsigned i = 0; i < waiting_.polls && !operation.finished() && !operation.posted_; ++i) {
    waiting_.rest();
    step(Caller::program);
  }
  if (operation.finished()) return false;
  const bool whole = operation.posted_ && posting(rank_, operation.sequence_).work.kind == Work::Kind::whole;
  return !whole || operation.scattered || operation.unread_ != Operation::kNobody;
}

void Operations::fail() {
  while (!failure_.finished()) progress(Caller::program);
  failure_.shape = Shape::failure;
  start(failure_);
}

void Operations::await(const Operation& operation) {
  waiting_.await([&] {
    if (operation.finished()) return true;
    progress(Caller::program);
    return operation.finished();
  });
}

bool Operations::progress(Caller caller) {
  if (idle() || !lock_.try_lock()) return false;
  const LockGuard guard(lock_, std::adopt_lock);
  return step(caller);
}

bool Operations::step(Caller caller) {
  bool moved = false;
  Operation* ended = nullptr;
  for (Operation** at = &first_; *at != nullptr;) {
    Operation& operation = **at;
    if (!operation.posted_ && !post(operation)) break;
    moved = advance(operation, caller) || moved;
    if (!over(operation)) {
      at = &operation.next_;
      continue;
    }
    *at = operation.next_;
    if (*at == nullptr) end_ = at;
    operation.next_ = std::exchange(ended, &operation);
  }
  if (ended == nullptr) return moved;
  retire();
  while (ended != nullptr) {
    Operation& operation = *std::exchange(ended, ended->next_);
    all().under_way.fetch_sub(1, std::memory_order_relaxed);
    under_way_.fetch_sub(1, std::memory_order_release);
    operation.finished_.store(true, std::memory_order_release);  // from here on it may be gone
  }
  return true;
}

// The oldest operation that is not over tells which ones are retired: they may end in another order.
void Operations::retire() {
  std::atomic<std::uint64_t>& retired = segment_.operations(rank_).retired;
  const std::uint64_t before = retired.load(std::memory_order_relaxed);
  const std::uint64_t now = first_ != nullptr ? first_->sequence_ - 1 : sequence_;
  if (now == before) return;
  retired.store(now, std::memory_order_release);
  constexpr std::uint64_t kSome = OperationBlock::kPostings / 2;
  if (now / kSome != before / kSome) wake();  // a rank may wait for a posting
}

bool Operations::all_retired(std::uint64_t sequence) {
  if (safe_ >= sequence) return true;
  std::uint64_t least = sequence_;
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    least = std::min(least, segment_.operations(rank).retired.load(std::memory_order_acquire));
  }
  safe_ = least;
  return safe_ >= sequence;
}

// False: a rank may still read the posting that the operation would get.
bool Operations::post(Operation& operation) {
  const std::uint64_t sequence = operation.sequence_;
  if (sequence > OperationBlock::kPostings && !all_retired(sequence - OperationBlock::kPostings)) return false;
  Slot& slot = posting(rank_, sequence).slot;
  const bool posted_short = post_payload(operation, slot);
  plan(operation, posted_short);
  slot.sequence.store(sequence, std::memory_order_release);
  operation.posted_ = true;
  wake();
  return true;
}

// nullptr: another rank may still read the bounce buffer that the operation would get.
std::byte* Operations::bounce_for(const Operation& operation) {
  constexpr std::uint64_t kBounces = OperationBlock::kBounceBuffers;
  if (operation.sequence_ > kBounces && !all_retired(operation.sequence_ - kBounces)) return nullptr;
  return segment_.operations(rank_).bounces[operation.sequence_ % kBounces];
}

// Whether nobody has to wait for the payload's readers.
bool Operations::post_payload(const Operation& operation, Slot& slot) {
  const auto post_address = [&](Slot::Kind kind, const void* in, std::uint64_t bytes) {
    slot.kind = kind;
    const Slot::Addresses addresses{static_cast<const std::byte*>(in), operation.out, bytes};
    std::memcpy(slot.payload, &addresses, sizeof addresses);
  };
  if (operation.shape == Shape::failure) {
    slot.kind = Slot::Kind::failed;
    slot.bytes = 0;
    return true;
  }
  if (!operation.parts.empty()) {
    const std::span<const Slot::Part> parts = operation.parts;
    std::uint64_t bytes = parts.size_bytes();
    for (const Slot::Part& part : parts) bytes += part.bytes;
    if (bytes <= Slot::kInline) {
      slot.kind = Slot::Kind::inline_parts;
      copy_parts(parts, slot.payload);
      return true;
    }
    std::byte* const to = is_short(bytes) ? bounce_for(operation) : nullptr;
    if (to != nullptr) copy_parts(parts, to);
    post_address(Slot::Kind::parts, to != nullptr ? to : static_cast<const void*>(parts.data()), parts.size_bytes());
    return to != nullptr;
  }
  const std::span<const std::byte> payload = operation.payload;
  if (payload.size() <= Slot::kInline) {
    slot.kind = Slot::Kind::payload;
    slot.bytes = static_cast<std::uint32_t>(payload.size());
    if (!payload.empty()) std::memcpy(slot.payload, payload.data(), payload.size());
    return true;
  }
  std::byte* const to = is_short(payload.size()) ? bounce_for(operation) : nullptr;
  if (to != nullptr) std::memcpy(to, payload.data(), payload.size());
  post_address(Slot::Kind::address, to != nullptr ? to : payload.data(), payload.size());
  return to != nullptr;
}

// What this rank has to do, and for which ranks it must wait.
void Operations::plan(Operation& operation, bool posted_short) {
  Work& work = posting(rank_, operation.sequence_).work;
  work.taken.store(0, std::memory_order_relaxed);
  work.outcome.store(Outcome::good, std::memory_order_relaxed);
  work.kind = Work::Kind::whole;
  work.shared = false;
  Ranks needed = Operation::kNobody;
  Ranks readers = Operation::kNobody;
  bool something = false;  // whether this rank has anything to do but wait
  if (operation.shape == Shape::moves) {
    something = plan_moves(operation, work);
    needed = operation.pending_;
    readers = operation.readers;
  } else if (operation.shape == Shape::barrier) {
    needed = others();
  } else if (is_reduction(operation.shape)) {
    const bool rooted = operation.shape == Shape::reduce;
    const bool at_root = operation.root == rank_;
    operation.divided_ = !is_short(operation.payload.size());
    something = operation.divided_ || !rooted || at_root;
    needed = something ? everyone() : Operation::kNobody;
    readers = rooted ? bit(operation.root) : everyone();
    if (is_scan(operation.shape) && !operation.divided_) {
      needed = bit(rank_) - 1;
      readers = ~(needed | bit(rank_));
    }
    if (operation.divided_) plan_reduction(operation, work);
  }
  operation.unread_ = operation.divided_ ? others() : posted_short ? Operation::kNobody : readers & others();
  operation.absent_ = (needed | operation.unread_) & others();
  if (work.kind == Work::Kind::whole) work.left.store(something ? 1 : 0, std::memory_order_relaxed);
  operation.computed_ = !something && needed == Operation::kNobody;
}

// Whether the rank takes anything.
bool Operations::plan_moves(Operation& operation, Work& work) {
  operation.pending_ = Operation::kNobody;
  std::uint64_t bytes = 0;
  std::uint64_t items = 0;
  for (std::size_t i = 0; i < operation.targets.size(); ++i) {
    const Range& range = operation.targets[i].range;
    if (range.of == 0) continue;
    operation.pending_ |= bit(operation.first + static_cast<std::uint32_t>(i));
    bytes += range.bytes;
    items += items_of(range);
  }
  if (operation.scattered || is_short(bytes)) return operation.pending_ != Operation::kNobody;
  work.kind = Work::Kind::moves;
  work.shared = !operation.callers_only;
  work.first = operation.first;
  work.targets_count = static_cast<std::uint32_t>(operation.targets.size());
  work.items = items;
  Target* const room = segment_.targets(rank_, operation.sequence_);
  std::ranges::uninitialized_copy(operation.targets, std::span(room, operation.targets.size()));
  work.targets = room;
  work.left.store(items, std::memory_order_relaxed);
  return true;
}

void Operations::plan_reduction(Operation& operation, Work& work) {
  const Range mine = operation.shape == Shape::reduce_scatter
                         ? operation.result
                         : share_of(rank_, ranks(), operation.payload.size(), operation.reducer->size);
  const std::uint64_t item = result_item(operation);
  work.kind = Work::Kind::reduction;
  work.shared = !operation.callers_only;
  work.offset = mine.offset;
  work.bytes = mine.bytes;
  work.items = (mine.bytes + item - 1) / item;
  work.left.store(work.items, std::memory_order_relaxed);
}

bool Operations::advance(Operation& operation, Caller caller) {
  if (operation.callers_only && caller != Caller::program) return false;
  bool moved = operation.absent_ != Operation::kNobody && note_posted(operation);
  if (!operation.computed_) moved = advance_own(operation) || moved;
  if (operation.computed_ && caller == Caller::program) moved = help(operation) || moved;
  return moved;
}

bool Operations::note_posted(Operation& operation) {
  const Ranks before = operation.absent_;
  for_each(before, [&](std::uint32_t rank) {
    if (has_posted(rank, operation.sequence_)) operation.absent_ &= ~bit(rank);
  });
  return operation.absent_ != before;
}

bool Operations::advance_own(Operation& operation) {
  const Work& work = posting(rank_, operation.sequence_).work;
  if (work.kind != Work::Kind::whole) {
    const bool moved = perform_item(operation, rank_);
    operation.computed_ = work.left.load(std::memory_order_acquire) == 0;
    return moved;
  }
  if (operation.shape == Shape::moves) {
    if ((operation.pending_ & ~operation.absent_) == Operation::kNobody) return false;
    take_pending(operation);
    if (operation.pending_ == Operation::kNobody) note_computed(operation);
    return true;
  }
  if (operation.absent_ != Operation::kNobody) return false;
  if (is_reduction(operation.shape)) reduce_short(operation);
  note_computed(operation);
  return true;
}

// This rank has performed all its work, as a whole.
void Operations::note_computed(Operation& operation) {
  operation.computed_ = true;
  posting(rank_, operation.sequence_).work.left.store(0, std::memory_order_release);
  if (operation.shape != Shape::barrier) wake();
}

void Operations::take_pending(Operation& operation) {
  for_each(operation.pending_ & ~operation.absent_, [&](std::uint32_t from) {
    operation.pending_ &= ~bit(from);
    const std::size_t index = from - operation.first;
    const Target& target = operation.targets[index];
    const std::span<const std::byte> come =
        range_of(posting(from, operation.sequence_).slot, rank_, target.range, &operation.outcome_);
    if (come.empty()) return;
    if (operation.scattered) {
      operation.put(index, come);
    } else {
      std::memcpy(target.to, come.data(), come.size());
    }
  });
}

void Operations::reduce_short(Operation& operation) {
  std::array<Slot::Part, kMostRanks> room;
  std::uint32_t count = ranks();
  if (is_scan(operation.shape)) count = operation.shape == Shape::scan ? rank_ + 1 : rank_;
  const std::span payloads = std::span(room).first(count);
  operation.outcome_ = payloads_of(operation, payloads, false);
  if (operation.outcome_ != Outcome::good || payloads.empty()) return;
  const Range result = operation.shape == Shape::reduce_scatter
                           ? operation.result
                           : Range{.offset = 0, .bytes = operation.payload.size(), .of = operation.payload.size()};
  for (Slot::Part& payload : payloads) payload.at += result.offset;
  fold(payloads, 0, operation.out, result.bytes, *operation.reducer);
}

// Performs an item of a rank that is late.
bool Operations::help(Operation& operation) {
  bool moved = false;
  for (std::uint32_t i = 1; i < ranks() && !moved; ++i) {
    const std::uint32_t rank = (rank_ + i) % ranks();
    if ((operation.unread_ & bit(rank)) == 0 || (operation.absent_ & bit(rank)) != 0) continue;
    if (posting(rank, operation.sequence_).work.shared) moved = perform_item(operation, rank);
  }
  return moved;
}

// Whether the rank has its result, and nobody reads its buffers any more.
bool Operations::over(Operation& operation) {
  if (!operation.computed_) return false;
  const Work& own = posting(rank_, operation.sequence_).work;
  operation.outcome_ = std::max(operation.outcome_, own.outcome.load(std::memory_order_relaxed));
  for_each(operation.unread_ & ~operation.absent_, [&](std::uint32_t rank) {
    const Work& work = posting(rank, operation.sequence_).work;
    if (work.left.load(std::memory_order_acquire) != 0) return;
    operation.unread_ &= ~bit(rank);
    if (operation.divided_)
      operation.outcome_ = std::max(operation.outcome_, work.outcome.load(std::memory_order_relaxed));
  });
  return operation.unread_ == Operation::kNobody;
}

}  // namespace urakata::direct
