// SPDX-License-Identifier: BSD-3-Clause
// How a rank waits for others of its communicator.
//
// Thread-safety: immutable; by any thread.
#pragma once

#include <sched.h>

#include "base/waiting.hpp"

namespace urakata::direct {

struct Waiting {
  unsigned polls;   // before `until` is called
  unsigned pauses;  // between two polls
  bool yields;      // whether the rank gives its core to other threads between two polls
  // Returns once `over(state)` has returned true. Makes all other progress of the rank meanwhile. The rank may sleep at
  // its port, and is then woken for each step of another rank.
  void (*until)(bool (*over)(const void* state), const void* state);

  // Between two polls.
  void rest() const {
    if (yields) {
      sched_yield();
    } else {
      for (unsigned rests = pauses; rests != 0; --rests) pause();
    }
  }
  // Returns once `over` has returned true.
  template <class Over>
  void await(const Over& over) const {
    for (unsigned i = 0; i < polls; ++i) {
      if (over()) return;
      rest();
    }
    until([](const void* state) { return (*static_cast<const Over*>(state))(); }, &over);
  }
};

}  // namespace urakata::direct
