// SPDX-License-Identifier: BSD-3-Clause
#include "chain/submitter.hpp"

#include "base/mutex.hpp"
#include "base/waiting.hpp"
#include "chain/channel_set.hpp"

namespace urakata::chain {

bool Submitter::hand_over(ChannelSet& channel_set) {
  const LockGuard guard(lock_);
  if (!thread_) thread_ = std::make_unique<ProgressThread>("urakata/chains", "operations", [this] { run(); });
  if (!thread_->runs()) return false;
  queue_.push_back(&channel_set);
  calls_.fetch_add(1, std::memory_order_release);
  futex_wake(calls_);
  return true;
}

void Submitter::forget(ChannelSet& channel_set) {
  const LockGuard guard(lock_);
  std::erase(queue_, &channel_set);
  while (submits_ == &channel_set) between_.wait(lock_);
}

// While the thread sleeps, the kernel runs its requests in its time.
void Submitter::run() {
  for (;;) {
    const std::uint32_t seen = calls_.load(std::memory_order_acquire);
    ChannelSet* next = nullptr;
    {
      const LockGuard guard(lock_);
      if (!queue_.empty()) {
        next = queue_.front();
        queue_.pop_front();
      }
      submits_ = next;
    }
    if (next != nullptr) {
      next->submit(true);
      {
        const LockGuard guard(lock_);
        submits_ = nullptr;
      }
      between_.notify_all();
    } else if (stopping_.load(std::memory_order_acquire)) {
      return;
    } else {
      futex_wait(calls_, seen);
    }
  }
}

void Submitter::stop() {
  if (!thread_ || !thread_->runs()) return;
  stopping_.store(true, std::memory_order_release);
  calls_.fetch_add(1, std::memory_order_release);
  futex_wake(calls_);
  thread_->join();
}

}  // namespace urakata::chain
