// SPDX-License-Identifier: BSD-3-Clause
// The space daemon: the process whose address space the ranks of a node share. It starts the tasks, tells their proxy
// processes what becomes of them, and ends when the last task and the last proxy have ended.
#pragma once

namespace urakata::space {

// Runs until the space is empty; returns the process's exit code. `listening` accepts connections of further proxy
// processes; `founder` is the connection of the first one. `break_failure` is what guard_break() returned when this
// process began.
int run_space_daemon(int listening, int founder, int break_failure);

}  // namespace urakata::space
