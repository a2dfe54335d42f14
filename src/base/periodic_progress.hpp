// SPDX-License-Identifier: BSD-3-Clause
// A periodic progress thread: it progresses what a rank has pending while the rank computes, or blocks inside an MPI
// library that cannot call Urakata meanwhile. While something is pending it polls every millisecond, or sooner if
// `Sleep` says so. It sleeps otherwise.
//
// Thread-safety: expect() and cpu_ns() by any thread; stop() by one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/progress_thread.hpp"

namespace urakata {

class PeriodicProgress {
 public:
  // Moves what can move without waiting. Returns whether something is still pending. What was pending before a call of
  // expect() must be visible to each poll that begins after that call.
  using Poll = std::function<bool()>;
  // Sleeps until a poll pays, for at most `ns` nanoseconds. False: it has not slept, so the progress thread naps.
  using Sleep = std::function<bool(std::uint64_t ns)>;

  // `name` and `what`: as for ProgressThread. Without `sleep` the progress thread naps between polls.
  PeriodicProgress(const std::string& name, const char* what, Poll poll, Sleep sleep = {});
  ~PeriodicProgress() { stop(); }
  PeriodicProgress(const PeriodicProgress&) = delete;
  PeriodicProgress& operator=(const PeriodicProgress&) = delete;

  // To be called when the rank leaves something pending and goes on: wakes the progress thread if it sleeps.
  void expect();
  // Ends the progress thread and waits for that. Does nothing if called again.
  void stop();
  std::uint64_t cpu_ns() const { return thread_.cpu_ns(); }

 private:
  void run();

  enum State : std::uint32_t { kIdle, kPolling, kStopping };
  const Poll poll_;
  const Sleep sleep_;
  std::atomic<std::uint32_t> state_{kIdle};
  ProgressThread thread_;  // the last, since the thread uses the other members
};

}  // namespace urakata
