// The daemon: the process whose address space the space is. It makes the tasks, tells their stand-ins what becomes of
// them, and ends when the last of both is gone.
#pragma once

namespace urakata::space {

// Runs until the space is empty; the process's exit code. `listening` takes connections of further stand-ins;
// `founder` is the first one's. `break_failure` is what guard_break() said when this process began.
int run_space_daemon(int listening, int founder, int break_failure);

}  // namespace urakata::space
