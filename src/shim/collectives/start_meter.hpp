// SPDX-License-Identifier: BSD-3-Clause
// How long starts of collectives take, for the goal nbc-start-own-us; measured where process_state.measuring says so.
//
// Thread-safety: StartMeter by any thread; start_cost() while no thread starts a collective.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "shim/collectives/native_messages.hpp"
#include "shim/process/process_state.hpp"

namespace urakata::shim {

// Notes how long the object lives, without the time that native_ticks() counts.
class StartMeter {
 public:
  StartMeter() : on_(process_state.measuring), native_(on_ ? native_ticks() : 0), begin_(on_ ? now_ns() : 0) {}
  ~StartMeter() {
    if (on_) note();
  }
  StartMeter(const StartMeter&) = delete;
  StartMeter& operator=(const StartMeter&) = delete;

 private:
  void note() const;

  bool on_;
  std::uint64_t native_;
  std::uint64_t begin_;
};

// Since the last call of start_cost(): the median time in ns that starts spent outside the MPI library's calls, among
// at most 65536 starts, and how many starts there were.
struct StartCost {
  double own_ns = 0;
  std::uint64_t starts = 0;
};
StartCost start_cost();

}  // namespace urakata::shim
