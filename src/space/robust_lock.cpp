// SPDX-License-Identifier: BSD-3-Clause
#include "space/robust_lock.hpp"

#include "base/waiting.hpp"

namespace urakata::space {
namespace {

constexpr std::uint64_t kHolderCheck = 5'000'000;  // ns between checks whether the holder still runs

constexpr unsigned kSlotBits = 11;
constexpr std::uint32_t kSlots = std::uint32_t{1} << kSlotBits;
static_assert(kMostTasks < kSlots);

bool has_ended(Registry& registry, std::uint32_t word) {
  const std::size_t slot = word % kSlots - 1;
  if (slot >= kMostTasks) return true;
  const TaskRecord& record = registry.tasks[slot];
  return record.state.load(std::memory_order_acquire) != TaskState::running || lock_word({&registry, slot}) != word;
}

}  // namespace

std::uint32_t lock_word(const Membership& task) {
  const std::uint32_t use = task.registry->tasks[task.slot].uses.load(std::memory_order_relaxed);
  return use << kSlotBits | static_cast<std::uint32_t>(task.slot + 1);
}

bool lock_robust(std::atomic<std::uint32_t>& holder, const Membership& self) {
  const std::uint32_t own = lock_word(self);
  for (;;) {
    std::uint32_t present = 0;
    if (holder.compare_exchange_strong(present, own, std::memory_order_acquire)) return false;
    if (!has_ended(*self.registry, present)) {
      futex_wait(holder, present, kHolderCheck);
    } else if (holder.compare_exchange_strong(present, own, std::memory_order_acquire)) {
      return true;
    }
  }
}

void unlock_robust(std::atomic<std::uint32_t>& holder) {
  holder.store(0, std::memory_order_release);
  futex_wake(holder, 1);
}

}  // namespace urakata::space
