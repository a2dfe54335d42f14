// SPDX-License-Identifier: BSD-3-Clause
// How the program's calls move on what is ours, and how they sleep until there is something to do. Everything that waits
// needs it, and it moves everything: so it is declared here, and defined in entries/progress.cpp, above all that it
// moves.
//
// Thread-safety: open() by the thread that calls MPI_Init; the rest by any thread between MPI_Init and MPI_Finalize.
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
  // The engines are made. `wire`: messages of ours may go by transport wire. `world`: the private communicator.
  void open(bool wire, MPI_Comm world);

  // From now on the MPI library's own waiting drives the engines too, where it offers that. Until the first
  // communicator of ours it does not: a program that uses nothing of Urakata waits as fast as without.
  void hook();
  void unhook();

  // One step of every engine that has something pending. Returns whether anything moved.
  bool step_engines(std::int64_t bytes = engine::Domain::kStepBytes);
  // The same for a thread that calls until something is done. Now and then, where nothing moves, the MPI library's own
  // messages are moved on: while all of ours go by wire nobody else asks the MPI library, and a peer may need its
  // message from us before it does its part.
  bool step_all(std::int64_t bytes = engine::Domain::kStepBytes);
  // The same for a call that the program makes between computations, about what goes on without it: steps take a
  // sixty-fourth of the time at most, and most calls pass without one (StepPace).
  void step_rarely();
  // A caller has waited for a while and nothing moves: sleeps until the network is ready, if all that is pending comes
  // that way. False: nothing was done, the caller has to find another way to wait.
  bool sleep();
  // Does everything that is pending wait for what the transports tell?
  bool waits_for_descriptors() const { return wire_ && wakeup() == Wakeup::descriptors; }

 private:
  // What tells of all that is pending; none where nothing is.
  Wakeup wakeup() const;
  void poll_native();

  // Constant after open().
  const engine::Engines& engines_;
  bool wire_ = false;
  MPI_Comm world_ = MPI_COMM_NULL;

  std::unique_ptr<SocketWatch> watch_;  // by the caller that has taken watched_
  std::atomic<bool> watched_{false};
  std::atomic<unsigned> unsuccessful_polls_{0};
  std::once_flag hooked_;
};

// That of this process; nullptr before MPI_Init.
[[gnu::visibility("hidden")]] extern constinit Progress* the_progress;

}  // namespace urakata::shim
