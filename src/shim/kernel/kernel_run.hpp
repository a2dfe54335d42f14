// SPDX-License-Identifier: BSD-3-Clause
// What an instance keeps for the kernel to execute it. CMake gives this file, or kernel_run_not_built.hpp
// in a build without the component, the name shim/kernel_run.hpp.
//
// Thread-safety: as the instance's.
#pragma once

#include "engine/executor.hpp"
#include "engine/kernel.hpp"

namespace urakata::shim {

struct KernelRun {
  engine::ChainedGraph chained;  // one of these two is the instance's executor, if it has one
  engine::SmallCollective small;

  // Whether the executor can make progress. Without a virtual call for a chain, since each MPI_Test asks.
  bool can_progress(const engine::Executor* executor) const {
    return executor == &chained ? chained.can_progress() : executor->can_progress();
  }
};

}  // namespace urakata::shim
