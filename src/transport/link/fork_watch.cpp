// SPDX-License-Identifier: BSD-3-Clause
#include "transport/link/fork_watch.hpp"

#include <pthread.h>

#include <atomic>

namespace urakata::transport {

namespace {

// In the child of a fork one more than in its parent.
std::atomic<std::uint32_t> fork_count{0};

std::uint32_t count_forks() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { fork_count.fetch_add(1, std::memory_order_relaxed); });
  return fork_count.load(std::memory_order_relaxed);
}

}  // namespace

ForkWatch::ForkWatch() : forks_(count_forks()) {}

bool ForkWatch::forked() const { return fork_count.load(std::memory_order_relaxed) != forks_; }

}  // namespace urakata::transport
