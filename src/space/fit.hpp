// Whether a program can live in a space, and as what.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "space/handover.hpp"

namespace urakata::space {

// The command that the daemon is to run for the program file `path` with `arguments` (argv[0] first): the program
// itself or, for a script, the interpreter that its first line names, as the kernel and env would have it. The
// environment is left empty. Error: why the program cannot live in a space and what to do about it, as the rest of a
// sentence about `path`.
Result<Command> fit(const std::string& path, std::span<char* const> arguments);

// Error: why no program of this process can live in a space: its limits hold for an address space as a whole.
Status fit_limits();

}  // namespace urakata::space
