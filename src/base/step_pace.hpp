// SPDX-License-Identifier: BSD-3-Clause
// When a call that a program makes between computations should make progress: not again before so much time has
// gone by that looking in vain takes no more than a given part of it, however often the program calls.
//
// Thread-safety: one for each thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace urakata {

class StepPace {
 public:
  // At `now`, in ns: has `share` times the duration of a step in vain gone by since the last step?
  bool due(std::uint64_t now, std::uint64_t share) const { return now - ended_ >= share * cost_; }
  // There was a step. One that found something, or lost its core meanwhile, takes longer than one in vain: so the
  // shortest counts, which is forgotten little by little.
  void stepped(std::uint64_t begin, std::uint64_t end) {
    cost_ = ended_ == 0 ? end - begin : std::min(end - begin, cost_ + cost_ / 8 + 1);
    ended_ = end;
  }

 private:
  std::uint64_t cost_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace urakata
