// SPDX-License-Identifier: BSD-3-Clause
#include "direct/control_segment.hpp"

#include <memory>
#include <new>

namespace urakata::direct {

namespace {

// The segments of this rank that all ranks have left. The ranks that leave last push, reclaim() takes the whole list.
constinit std::atomic<ControlSegment*> left_segments{nullptr};

constexpr std::size_t kHead =
    (sizeof(ControlSegment) + alignof(ControlBlock) - 1) / alignof(ControlBlock) * alignof(ControlBlock);

}  // namespace

ControlSegment* ControlSegment::make(std::uint32_t ranks) {
  reclaim();
  static_assert(sizeof(ControlBlock) % alignof(OperationBlock) == 0);
  const std::size_t targets = std::size_t{OperationBlock::kPostings} * ranks * sizeof(Target);  // of each rank
  const std::size_t bytes = kHead + ranks * (sizeof(ControlBlock) + sizeof(OperationBlock) + targets);
  void* const memory = ::operator new (bytes, std::align_val_t{alignof(ControlBlock)}, std::nothrow);
  if (memory == nullptr) return nullptr;
  auto* const segment = new (memory) ControlSegment(ranks, left_segments);
  segment->blocks_ = reinterpret_cast<ControlBlock*>(static_cast<std::byte*>(memory) + kHead);
  segment->operations_ = reinterpret_cast<OperationBlock*>(segment->blocks_ + ranks);
  segment->targets_ = reinterpret_cast<Target*>(segment->operations_ + ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {  // touches no bounce buffer
    new (segment->blocks_ + rank) ControlBlock;
    new (segment->operations_ + rank) OperationBlock;
  }
  return segment;
}

void ControlSegment::leave() {
  if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  std::atomic<ControlSegment*>& list = left_;
  next_ = list.load(std::memory_order_relaxed);
  while (!list.compare_exchange_weak(next_, this, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void ControlSegment::reclaim() {
  ControlSegment* segment = left_segments.exchange(nullptr, std::memory_order_acquire);
  while (segment != nullptr) {
    ControlSegment* const next = segment->next_;
    std::destroy_n(segment->blocks_, segment->ranks_);
    std::destroy_n(segment->operations_, segment->ranks_);
    segment->~ControlSegment();
    ::operator delete (segment, std::align_val_t{alignof(ControlBlock)});
    segment = next;
  }
}

}  // namespace urakata::direct
