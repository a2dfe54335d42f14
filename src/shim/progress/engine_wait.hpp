// SPDX-License-Identifier: BSD-3-Clause
// A caller that waits for a collective: it drives the engines, and sleeps or gives its core away where nothing moves.
//
// Thread-safety: an object is one thread's.
#pragma once

#include <sched.h>

#include "base/waiting.hpp"
#include "shim/process/process_state.hpp"
#include "shim/progress/progress.hpp"

namespace urakata::shim {

class Waiting {
 public:
  // `engine`: the one that runs what the caller waits for; nullptr: none does. `entered`: the engine knows already that
  // the caller waits (Engine::start_awaited).
  explicit Waiting(engine::Engine* engine, bool entered = false)
      : engine_(engine), ladder_(process_state.oversubscribed) {
    if (engine_ != nullptr && !entered) engine_->enter();
  }
  ~Waiting() {
    if (engine_ != nullptr) engine_->leave();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  void step() {
    if (the_progress->step_all(engine::Domain::kWaitBytes)) {
      ladder_.restart();
      idle_ = 0;
    } else if (++idle_ < kIdle || !the_progress->sleep()) {
      give_way();
    }
  }

 private:
  // Steps without progress before the caller sleeps: a message that is already under way arrives meanwhile.
  static constexpr unsigned kIdle = 50;

  // Yields the core, if the MPI library does not. Open MPI yields inside each poll if it knows that there are more
  // ranks than cores. A second yield after each poll would halve the polls that can see a message. MPICH does not
  // yield. If only the wire is awaited, the MPI library is seldom polled, so this yields.
  void give_way() {
    if (the_progress->waits_for_descriptors()) {
      sched_yield();
      return;
    }
#if defined(URAKATA_ABI_OPENMPI)
    constexpr unsigned kNativeSteps = 16;
    if (process_state.oversubscribed && idle_ % kNativeSteps == 0) ladder_.step();
#else
    ladder_.step();
#endif
  }

  engine::Engine* engine_;
  Ladder ladder_;
  unsigned idle_ = 0;
};

}  // namespace urakata::shim
