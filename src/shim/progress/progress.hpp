// SPDX-License-Identifier: BSD-3-Clause
// How the program's calls make progress of all that is ours, and how they sleep until there is something to do. Each
// part of the shim that waits needs this, and the implementation calls each part. So the class is declared here, and
// implemented in entries/progress.cpp, above all parts.
//
// Thread-safety: open() and unhook() by the thread that calls MPI_Init and MPI_Finalize; the rest by any thread
// between.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/socket_watch.hpp"
#include "engine/engines.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

class Progress {
 public:
  explicit Progress(const engine::Engines& engines) : engines_(engines) {}
  // To be called when the engines exist. `wire`: whether messages of ours may go by transport wire. `world`: the
  // private communicator.
  void open(bool wire, MPI_Comm world);

  // From now on the MPI library calls step_engines() while it waits, if it offers that (Open MPI). To be called
  // when there is an endpoint, a communicator or an exchange of ours: a program that uses nothing of Urakata waits as
  // fast as without.
  void hook();
  void unhook();

  // One step of every engine that has something pending. Returns whether anything moved.
  bool step_engines(std::int64_t bytes = engine::Domain::kStepBytes);
  // step_engines() for a thread that repeats the call until something is done. If nothing moves and there is a wire,
  // some calls also poll the MPI library. Nothing else does while all our messages go by wire, but a peer may wait for
  // a message that the MPI library has to send.
  bool step_all(std::int64_t bytes = engine::Domain::kStepBytes);
  // step_engines() for a call that the program makes between computations, about operations that progress without it.
  // Most calls make no step: steps take a sixty-fourth of the time at most (StepPace).
  void step_rarely();
  // For a caller that has waited for a while without progress. If the transports tell of all that is pending, sleeps
  // until they do, or for 0.5 ms. False: it did not sleep, for example since another thread does; the caller must wait
  // in another way.
  bool sleep();
  // Whether the transports' descriptors tell of all that is pending.
  bool waits_for_descriptors() const { return wire_ && wakeup() == Wakeup::descriptors; }

 private:
  // The means by which the transports tell of all that is pending; none also if nothing is pending.
  Wakeup wakeup() const;
  void poll_native();

  // Constant after open().
  const engine::Engines& engines_;
  bool wire_ = false;
  MPI_Comm world_ = MPI_COMM_NULL;

  std::unique_ptr<SocketWatch> watch_;  // used by the thread that has set watched_
  std::atomic<bool> watched_{false};    // whether a thread sleeps
  std::atomic<unsigned> unsuccessful_polls_{0};
  std::once_flag hooked_;
};

// The object of this process; nullptr before MPI_Init.
[[gnu::visibility("hidden")]] extern constinit Progress* the_progress;

}  // namespace urakata::shim
