// SPDX-License-Identifier: BSD-3-Clause
#include "chain/operation_queue.hpp"

#include <algorithm>

namespace urakata::chain {
namespace {

constexpr std::size_t kMostSubmitted = 32;  // operations that the kernel has at once; each has descriptors for gates

}  // namespace

using Stage = ChainedOperation::Stage;

bool OperationQueue::has(const void* whose) const {
  return std::ranges::any_of(operations_,
                             [&](const auto& one) { return one->stage != Stage::free && one->whose == whose; });
}

ChainedOperation* OperationQueue::free_operation(const ChainedSchedule& schedule) {
  auto found = std::ranges::find_if(operations_, [](const auto& one) { return one->stage == Stage::free; });
  if (found == operations_.end()) {
    operations_.push_back(std::make_unique<ChainedOperation>(operations_.size()));
    found = operations_.end() - 1;
  }
  ChainedOperation& operation = **found;
  while (operation.gates.size() < schedule.gates) {
    Gate gate;
    if (!gate.make()) return nullptr;
    operation.gates.push_back(std::move(gate));
  }
  return &operation;
}

bool OperationQueue::add(const ChainedSchedule& schedule, std::span<std::byte* const> buffers, void* whose) {
  ChainedOperation* const operation = free_operation(schedule);
  if (operation == nullptr) return false;
  operation->schedule = &schedule;
  operation->whose = whose;
  operation->buffers.assign(buffers.begin(), buffers.end());
  operation->stage = Stage::waiting;
  operation->failed = false;
  operation->turn = next_turn_++;
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

ChainedOperation* OperationQueue::next_to_submit() const {
  ChainedOperation* next = nullptr;
  if (in_flight() == submitted_) return next;
  for (const auto& one : operations_) {
    if (one->stage == Stage::waiting && (next == nullptr || one->turn < next->turn)) next = one.get();
  }
  return next;
}

bool OperationQueue::may_follow(ChainedOperation& operation) const {
  if (!last_->signals || submitted_ == kMostSubmitted) return false;
  return operation.schedule->chains == 1 || operation.begun.make();
}

void OperationQueue::note_submitted(ChainedOperation& operation) {
  if (last_ != nullptr) last_->followed = true;
  last_ = &operation;
  operation.stage = Stage::submitted;
  ++submitted_;
}

void OperationQueue::remove(ChainedOperation& operation) {
  if (operation.stage == Stage::submitted) --submitted_;
  if (last_ == &operation) last_ = nullptr;
  operation.stage = Stage::free;
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
}

void OperationQueue::fail_all() {
  for (const auto& operation : operations_) {
    if (operation->stage == Stage::free) continue;
    operation->failed = true;
    if (operation->stage == Stage::waiting) operation->stage = Stage::dropped;
    std::ranges::for_each(operation->gates, &Gate::let_all_through);
    operation->ended.let_all_through();
    operation->begun.let_all_through();
  }
}

}  // namespace urakata::chain
