// SPDX-License-Identifier: BSD-3-Clause
// Decides which of the MPI calls that a program makes between computations should also progress operations (a *step*).
// However often the program calls, steps that move nothing take at most a given part of the time.
//
// Thread-safety: none; each thread has its own.
#pragma once

#include <algorithm>
#include <cstdint>

namespace urakata {

class StepPace {
 public:
  // Whether at `now` the last step ended at least `share` times the duration of a step in vain ago. Times in ns.
  bool due(std::uint64_t now, std::uint64_t share) const { return now - ended_ >= share * cost_; }
  // Notes a step. A step that moved something or was preempted takes longer than one in vain. So the shortest duration
  // counts. With each step it may grow by an eighth, to follow changes.
  void stepped(std::uint64_t begin, std::uint64_t end) {
    cost_ = ended_ == 0 ? end - begin : std::min(end - begin, cost_ + cost_ / 8 + 1);
    ended_ = end;
  }

 private:
  std::uint64_t cost_ = 0;   // ns, estimated duration of a step in vain
  std::uint64_t ended_ = 0;  // when the last step ended; 0: there was none
};

}  // namespace urakata
