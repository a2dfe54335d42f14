// SPDX-License-Identifier: BSD-3-Clause
// The facts of this process that most of the shim needs, so that it need not know of class Process.
//
// Thread-safety: written by the threads that call MPI_Init and MPI_Finalize (lifecycle/process.cpp), and constant
// between; read by any thread between.
#pragma once

#include <cstdint>

#include "shim/native/abi.hpp"

namespace urakata::observe {
class Observer;
}

namespace urakata::shim {

struct ProcessState {
  bool running = false;                   // between MPI_Init and MPI_Finalize
  bool native_only = true;                // everything falls back: engine native, or Urakata cannot serve the job
  bool multiple = false;                  // the MPI library provides MPI_THREAD_MULTIPLE
  bool oversubscribed = false;            // ranks share cores
  bool measuring = false;                 // the costs of starts are measured (user/measuring.h)
  int told_level = MPI_THREAD_SINGLE;     // the thread level that the program was told (`provided`)
  std::int32_t world_rank = 0;            // in MPI_COMM_WORLD
  observe::Observer* observer = nullptr;  // nullptr: this rank writes no report
};

[[gnu::visibility("hidden")]] extern constinit ProcessState process_state;

}  // namespace urakata::shim
