#include "space/robust_lock.hpp"

#include <cerrno>
#include <csignal>

#include "base/waiting.hpp"

namespace urakata::space {
namespace {

constexpr std::uint64_t kHolderCheck = 5'000'000;  // ns between checks whether the holder is still alive

}  // namespace

bool lock_robust(std::atomic<std::uint32_t>& holder, pid_t self) {
  bool was_left = false;
  for (;;) {
    std::uint32_t present = 0;
    const auto own = static_cast<std::uint32_t>(self);
    if (holder.compare_exchange_strong(present, own, std::memory_order_acquire)) return was_left;
    if (kill(static_cast<pid_t>(present), 0) != 0 && errno == ESRCH) {
      was_left = holder.compare_exchange_strong(present, own, std::memory_order_acquire);
      if (was_left) return true;
    } else {
      futex_wait(holder, present, kHolderCheck);
    }
  }
}

void unlock_robust(std::atomic<std::uint32_t>& holder) {
  holder.store(0, std::memory_order_release);
  futex_wake(holder, 1);
}

}  // namespace urakata::space
