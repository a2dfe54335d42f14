// SPDX-License-Identifier: BSD-3-Clause
// Engine `poll` with an MPI library that does not call Urakata while it blocks, but allows calls by a thread of ours.
// Callers advance the domain. A periodic progress thread keeps MPI's progress rule while no caller waits, for instance
// while the program is blocked in a call that Urakata does not handle.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/periodic_progress.hpp"
#include "base/socket_watch.hpp"
#include "engine/engine.hpp"

namespace urakata::engine {

class PeriodicEngine final : public Engine {
 public:
  explicit PeriodicEngine(Domain& domain);

  std::string_view name() const override { return "poll"; }
  void start_all(Domain::Starts starts) override {
    begin(starts);
    progress_.expect();
  }
  void enter() override { callers_.fetch_add(1, std::memory_order_relaxed); }
  void leave() override { callers_.fetch_sub(1, std::memory_order_relaxed); }
  void stop() override { progress_.stop(); }
  std::uint64_t progress_cpu_ns() const override { return progress_.cpu_ns(); }

 private:
  bool poll();

  SocketWatch watch_;                      // used by the progress thread only
  std::atomic<std::uint32_t> callers_{0};  // number of callers that wait, and advance the domain themselves
  PeriodicProgress progress_;
};

}  // namespace urakata::engine
