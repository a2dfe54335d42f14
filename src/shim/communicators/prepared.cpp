// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/prepared.hpp"

#include "base/mutex.hpp"

namespace urakata::shim {

namespace {
std::atomic<std::uint64_t> allocated{0};
}

std::uint64_t allocations() { return allocated.load(std::memory_order_relaxed); }
void count_allocation() { allocated.fetch_add(1, std::memory_order_relaxed); }

Run::Run(Prepared& of) : engine::Instance(*of.schedule), prepared(of) { streams = of.streams; }

Run* Prepared::take() {
  const LockGuard guard(lock_);
  if (idle_.empty()) {
    count_allocation();
    all_.push_back(std::make_unique<Run>(*this));
    idle_.reserve(all_.size());
    return all_.back().get();
  }
  Run* run = idle_.back();
  idle_.pop_back();
  return run;
}

void Prepared::give(Run* run) {
  const LockGuard guard(lock_);
  idle_.push_back(run);
}

bool Prepared::idle() {
  const LockGuard guard(lock_);
  return idle_.size() == all_.size();
}

}  // namespace urakata::shim
