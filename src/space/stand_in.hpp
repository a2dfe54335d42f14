// The process that the launcher sees in a task's place.
#pragma once

#include <string>

#include "base/result.hpp"
#include "space/handover.hpp"

namespace urakata::space {

// Runs the command as a task of this job's space and ends as the task ends: with its exit code, or by the same signal.
// While it runs, signals are passed on to it; stand-in and task stop, go on and die together, and both die with the
// launcher, where there is one. Returns only where the command could not be started in a space, with the reason; this
// process is then as before. `daemon` and `stand_in` are the programs urakata-spaced and urakata-stand-in; with the
// latter the process goes on when the task runs. To be called by the process's only thread.
Error stand_in_for(const Command& command, const std::string& daemon, const std::string& stand_in);

}  // namespace urakata::space
