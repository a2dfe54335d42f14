#include "p2p/fallback_progress.hpp"

#include "base/waiting.hpp"

namespace urakata::p2p {

namespace {
constexpr std::uint64_t kNap = 1'000'000;  // ns
}

void FallbackProgress::expect() {
  // The request is counted as open before the state is read, and the helper does it the other way round.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint32_t idle = kIdle;
  if (state_.load(std::memory_order_relaxed) == kIdle && state_.compare_exchange_strong(idle, kLooking)) {
    futex_wake(state_);
  }
}

void FallbackProgress::stop() {
  if (!thread_.runs()) return;
  state_.store(kStopping, std::memory_order_seq_cst);
  futex_wake(state_);
  thread_.join();
}

void FallbackProgress::run() {
  for (;;) {
    const std::uint32_t state = state_.load(std::memory_order_seq_cst);
    if (state == kStopping) return;
    if (state == kIdle) {
      futex_wait(state_, kIdle);
      continue;
    }
    futex_wait(state_, kLooking, kNap);
    endpoint_.progress_if_free();
    const bool more = also_ != nullptr && also_();
    std::uint32_t looking = kLooking;
    if (!more && !endpoint_.open() && state_.compare_exchange_strong(looking, kIdle) && left()) {
      std::uint32_t idle = kIdle;
      state_.compare_exchange_strong(idle, kLooking);
    }
  }
}

}  // namespace urakata::p2p
