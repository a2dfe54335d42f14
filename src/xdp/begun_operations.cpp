// SPDX-License-Identifier: BSD-3-Clause
#include "xdp/begun_operations.hpp"

#include <algorithm>

namespace urakata::xdp {

BegunOperation& BegunOperations::add(const Work& work, std::byte* take, void* whose) {
  BegunOperation& operation =
      begun_.emplace_back(BegunOperation{.number = next_++, .work = work, .take = take, .whose = whose});
  in_flight_.store(begun_.size(), std::memory_order_relaxed);
  return operation;
}

void BegunOperations::note_taken() {
  in_flight_.store(begun_.size(), std::memory_order_relaxed);
  note_awaited();
}

void BegunOperations::clear() {
  begun_.clear();
  in_flight_.store(0, std::memory_order_relaxed);
}

bool BegunOperations::has(const void* whose) const {
  return std::ranges::any_of(begun_, [&](const BegunOperation& one) { return one.whose == whose; });
}

bool BegunOperations::front_ended() const {
  const BegunOperation& first = begun_.front();
  if (!first.given) return false;
  return cells_.needs(first.work.form) == 0 || cells_.done(first.number);
}

void BegunOperations::note_awaited() {
  std::uint64_t awaited = kNothing;
  if (!begun_.empty()) awaited = front_ended() ? kEnded : begun_.front().number;
  awaited_.store(awaited, std::memory_order_relaxed);
}

bool BegunOperations::can_progress() const {
  const std::uint64_t awaited = awaited_.load(std::memory_order_relaxed);
  if (awaited == kNothing || awaited == kEnded) return awaited == kEnded;
  return cells_.done(static_cast<std::uint32_t>(awaited));
}

}  // namespace urakata::xdp
