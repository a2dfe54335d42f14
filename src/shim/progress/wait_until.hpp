// SPDX-License-Identifier: BSD-3-Clause
// Waits where there is an endpoint: moves on everything that is ours, the rank's messages and collectives, until
// something is so.
#pragma once

#include "p2p/backoff.hpp"
#include "shim/process/space.hpp"
#include "shim/progress/progress.hpp"

namespace urakata::shim {

// Returns once `over` has returned true; it is not called again then. The rank has an endpoint.
template <class Over>
void wait_until(Over over, const p2p::BackoffSettings& settings = endpoint()->backoff_settings()) {
  p2p::Backoff backoff(endpoint()->port(), settings);
  bool is_over = false;
  const auto test = [&] { return is_over = is_over || over(); };
  while (!test()) {
    if (the_progress->step_all()) {
      backoff.restart();
    } else {
      backoff.step(test);
    }
  }
}

}  // namespace urakata::shim
