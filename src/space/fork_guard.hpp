// A fork of a task copies the task's own memory, not that of the other tasks of the space.
#pragma once

#include "space/registry.hpp"

namespace urakata::space {

// From now on each fork() of the process leaves the other tasks' territories out: the child finds nothing there.
// Threads and tasks that fork at the same time do so one after the other. (_Fork() and the bare system call run no
// handlers, so they copy all; and where another task forks in that very moment, the child may lack memory.) To be
// called once, by a task.
void leave_others_out_of_forks(const Membership& membership);

}  // namespace urakata::space
