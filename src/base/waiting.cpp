// SPDX-License-Identifier: BSD-3-Clause
#include "base/waiting.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace urakata {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "the kernel looks at the bare word");

}  // namespace

// errno belongs to the program, so futex_wait() and futex_wake() restore it.
bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t timeout_ns) {
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000U);
  limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000U);
  const int saved = errno;
  const long result =
      syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout_ns == kForever ? nullptr : &limit, nullptr, 0);
  const bool in_time = result == 0 || errno != ETIMEDOUT;
  errno = saved;
  return in_time;
}

void futex_wake(const std::atomic<std::uint32_t>& word, int waiters) {
  const int saved = errno;
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, waiters, nullptr, nullptr, 0);
  errno = saved;
}

void Ladder::step() {
  if (taken_ < spins_) {
    ++taken_;
    pause();
  } else {
    sched_yield();
  }
}

}  // namespace urakata
