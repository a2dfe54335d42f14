// SPDX-License-Identifier: BSD-3-Clause
// How a thread waits: spin, yield, then sleep until it is woken (docs/design/decisions/0022-spin-yield-sleep.md).
#pragma once

#include <atomic>
#include <cstdint>

namespace urakata {

// Tells the processor that this is a spin loop.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

inline constexpr std::uint64_t kForever = UINT64_MAX;

// Sleeps while `word` is `expected`, for at most `timeout_ns`. Returns at once if `word` is not. May also return
// without a reason, so callers must test again what they wait for. False: the time ran out. Keeps errno. Works between
// threads of one address space only, as futex_wake() does.
bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t timeout_ns = kForever);

// Wakes up to `waiters` threads that sleep on `word`. The caller stores the new value before. Keeps errno.
void futex_wake(const std::atomic<std::uint32_t>& word, int waiters = 1);

// One wait of a thread that cannot sleep, because nothing would wake it (the MPI library can only be polled). The first
// calls of step() spin. Later ones give the core to any runnable thread. A new wait needs a new Ladder or restart().
class Ladder {
 public:
  // Number of steps that spin. None does if there are more runnable threads than cores: a spinning rank would keep the
  // rank that it waits for from running.
  static constexpr unsigned kSpins = 200;
  explicit Ladder(bool oversubscribed) : spins_(oversubscribed ? 0 : kSpins) {}

  void step();
  void restart() { taken_ = 0; }

 private:
  unsigned spins_;
  unsigned taken_ = 0;
};

}  // namespace urakata
