// SPDX-License-Identifier: BSD-3-Clause
// Waits for a condition on a rank that has an endpoint. Meanwhile makes progress of all that is ours: the rank's
// messages and collectives.
//
// Thread-safety: by any thread of the program.
#pragma once

#include "p2p/backoff.hpp"
#include "shim/process/space.hpp"
#include "shim/progress/progress.hpp"

namespace urakata::shim {

// Returns once `over` has returned true, and does not call `over` again then.
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
