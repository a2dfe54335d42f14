// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/caller_lock.hpp"

#include "p2p/fence.hpp"

namespace urakata::p2p {

// The flag stays set: the progress thread, which tries again and again, leaves as soon as it sees it.
void CallerLock::wait_for_progress_thread() {
  for (Ladder ladder(false); held_.load(std::memory_order_acquire);) ladder.step();
}

void CallerLock::compete() {
  for (Ladder ladder(false); !try_lock();) ladder.step();
}

bool CallerLock::try_as_progress_thread() {
  if (program_in_.load(std::memory_order_relaxed)) return false;
  if (held_.exchange(true, std::memory_order_seq_cst)) return false;  // another progress thread's
  // Without the fence the progress thread must not go on: the program's thread may be in, unseen.
  if (fence_all_threads() && !program_in_.load(std::memory_order_acquire)) return true;
  held_.store(false, std::memory_order_release);
  return false;
}

}  // namespace urakata::p2p
