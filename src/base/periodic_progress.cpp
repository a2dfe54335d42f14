// SPDX-License-Identifier: BSD-3-Clause
#include "base/periodic_progress.hpp"

#include <utility>

#include "base/waiting.hpp"

namespace urakata {

namespace {
constexpr std::uint64_t kFallbackNap = 1'000'000;  // ns
}

PeriodicProgress::PeriodicProgress(const std::string& name, const char* what, Poll poll, Sleep sleep)
    : poll_(std::move(poll)), sleep_(std::move(sleep)), thread_(name, what, [this] { run(); }) {}

void PeriodicProgress::expect() {
  // The caller makes its work visible, then reads the state. The progress thread sets the state to kIdle, then polls
  // once more. So one of the two sees what the other has done.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint32_t idle = kIdle;
  if (state_.load(std::memory_order_relaxed) == kIdle && state_.compare_exchange_strong(idle, kPolling)) {
    futex_wake(state_);
  }
}

void PeriodicProgress::stop() {
  if (!thread_.runs()) return;
  state_.store(kStopping, std::memory_order_seq_cst);
  futex_wake(state_);
  thread_.join();
}

void PeriodicProgress::run() {
  for (;;) {
    const std::uint32_t state = state_.load(std::memory_order_seq_cst);
    if (state == kStopping) return;
    if (state == kIdle) {
      futex_wait(state_, kIdle);
      continue;
    }
    if (!sleep_ || !sleep_(kFallbackNap)) futex_wait(state_, kPolling, kFallbackNap);
    std::uint32_t polling = kPolling;
    if (!poll_() && state_.compare_exchange_strong(polling, kIdle) && poll_()) {
      std::uint32_t idle = kIdle;
      state_.compare_exchange_strong(idle, kPolling);
    }
  }
}

}  // namespace urakata
