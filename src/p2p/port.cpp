// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/port.hpp"

#include <climits>

namespace urakata::p2p {

void Port::wake_sleeper() {
  std::uint32_t present = sleepers_.load(std::memory_order_relaxed);
  if ((present & kAsleep) == 0 || !sleepers_.compare_exchange_strong(present, present + 1, std::memory_order_relaxed)) {
    return;  // somebody else wakes them
  }
  futex_wake(sleepers_, INT_MAX);
}

}  // namespace urakata::p2p
