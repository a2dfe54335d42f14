// SPDX-License-Identifier: BSD-3-Clause
// Starts a task from what a proxy process handed over.
#pragma once

#include <sys/types.h>

#include "base/result.hpp"
#include "space/debugger_chain.hpp"
#include "space/handover.hpp"
#include "space/registry.hpp"

namespace urakata::space {

struct Task {
  pid_t pid;
  LoadedProgram program;
};

// Maps the program and its dynamic linker, writes the stack, and starts the process. The task's record gets its pid.
// The program's memory stays mapped when the task has ended. Error: why there is no task. Then there is no process, and
// program, linker and stack are unmapped.
Result<Task> start_task(const Handover& handover, const Membership& task);

}  // namespace urakata::space
