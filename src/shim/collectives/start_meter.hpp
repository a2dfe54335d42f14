// SPDX-License-Identifier: BSD-3-Clause
// How long starts of collectives take, for the goal nbc-start-own-us; measured where process_state.measuring says so.
//
// Thread-safety: all by any thread.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "shim/collectives/native_messages.hpp"
#include "shim/process/process_state.hpp"

namespace urakata::shim {

// Notes how long it lived, but for what was spent in the MPI library's calls.
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

// Median time in ns that starts spent outside the MPI library's calls since it was asked last, and how many there were.
struct StartCost {
  double own_ns = 0;
  std::uint64_t starts = 0;
};
StartCost start_cost();

}  // namespace urakata::shim
