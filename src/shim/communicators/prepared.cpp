// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/prepared.hpp"

#include "base/mutex.hpp"
#include "shim/process/allocation_count.hpp"

namespace urakata::shim {

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
