// The process that the launcher sees in a task's place.
#pragma once

#include <string>

#include "base/result.hpp"
#include "space/handover.hpp"

namespace urakata::space {

// Runs the command as a task of this job's space and ends as the task ends: with its exit code, or by the same signal.
// While it runs, signals are passed on to it; stand-in and task stop, go on and die together, and both die with the
// launcher, where there is one. Returns only where the command could not be started in a space, with the reason; this
// process is then as before. `keeper` is the program of that name, and `small` the program urakata-stand-in, with which
// the process goes on when the task runs: it needs a tenth of urakata-exec's memory. To be called by the process's only
// thread.
Error stand_in_for(const Command& command, const std::string& keeper, const std::string& small);

// The rest of it, in urakata-stand-in. False where stand_in_for() has not started this process; else does not return.
bool stand_in_as_told();

}  // namespace urakata::space
