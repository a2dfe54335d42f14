// SPDX-License-Identifier: BSD-3-Clause
// A periodic progress thread: progresses what a rank has pending while the rank computes, or blocks inside an MPI
// library that cannot call us meanwhile. It polls every millisecond while something is pending, or sooner if its owner
// knows that this pays, and sleeps otherwise.
//
// Thread-safety: expect() by any thread; stop() once, by one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/progress_thread.hpp"

namespace urakata {

class PeriodicProgress {
 public:
  // Moves what moves without waiting; returns whether there is more to move later. What has been left behind before
  // expect() is seen by a poll that begins after it.
  using Poll = std::function<bool()>;
  // Sleeps until a poll pays, for at most so many nanoseconds; false at once where nobody could tell.
  using Sleep = std::function<bool(std::uint64_t ns)>;

  // `what` and `name`: as ProgressThread's.
  PeriodicProgress(const std::string& name, const char* what, Poll poll, Sleep sleep = {});
  ~PeriodicProgress() { stop(); }
  PeriodicProgress(const PeriodicProgress&) = delete;
  PeriodicProgress& operator=(const PeriodicProgress&) = delete;

  // The rank goes its way and leaves something behind.
  void expect();
  void stop();
  std::uint64_t cpu_ns() const { return thread_.cpu_ns(); }

 private:
  void run();

  enum State : std::uint32_t { kIdle, kPolling, kStopping };
  const Poll poll_;
  const Sleep sleep_;
  std::atomic<std::uint32_t> state_{kIdle};
  ProgressThread thread_;  // the last: it uses the others
};

}  // namespace urakata
