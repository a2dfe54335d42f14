// SPDX-License-Identifier: BSD-3-Clause
// When to ask again for what has not come: after a first wait, and then less and less often, since the other rank may
// just be late.
//
// Thread-safety: by one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace urakata::xdp {

class RetryTimer {
 public:
  static constexpr std::uint64_t kLongestWait = 20'000'000;  // ns

  bool runs() const { return runs_; }
  bool has_been_due() const { return has_been_due_; }  // since start(); false if the timer does not run
  // Becomes due `first_ns` after `now_ns`, again after `second_ns`, and then each time after twice as long, but at most
  // kLongestWait.
  void start(std::uint64_t now_ns, std::uint64_t first_ns, std::uint64_t second_ns) {
    runs_ = true;
    at_ns_ = now_ns + first_ns;
    wait_ns_ = second_ns;
  }
  void stop() { runs_ = has_been_due_ = false; }
  // For a timer that runs: whether it is due. If so, begins the next wait.
  bool due(std::uint64_t now_ns) {
    if (now_ns < at_ns_) return false;
    has_been_due_ = true;
    at_ns_ = now_ns + wait_ns_;
    wait_ns_ = std::min(2 * wait_ns_, kLongestWait);
    return true;
  }

 private:
  bool runs_ = false;
  bool has_been_due_ = false;
  std::uint64_t at_ns_ = 0;    // when the timer is due
  std::uint64_t wait_ns_ = 0;  // the wait after that
};

}  // namespace urakata::xdp
