// SPDX-License-Identifier: BSD-3-Clause
// Whether a program can run in a space, and with which command.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "space/handover.hpp"

namespace urakata::space {

// The command that the space daemon is to run for the program file `path` with `arguments` (argv[0] first). For a
// program it is the program itself. For a script it is the interpreter that the first line names, found as the kernel
// and env would find it. The environment is left empty. Error: why the program cannot run in a space and what to do
// about it, as the rest of a sentence about `path`.
Result<Command> fit(const std::string& path, std::span<char* const> arguments);

// Error: this process has a resource limit that would hold for the whole space, so that no program can run in one.
Status fit_limits();

}  // namespace urakata::space
