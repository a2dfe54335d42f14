// SPDX-License-Identifier: BSD-3-Clause
// The space daemon: the process whose address space the ranks of a node share. It starts the tasks, tells their proxy
// processes what becomes of them, and ends when the last task and the last proxy have ended.
#pragma once

namespace urakata::space {

// Runs until the space is empty; returns the process's exit code: 0, or 1 if there can be no space. `listening` accepts
// connections of further proxy processes; `founder` is the connection of the first one. `break_failure` is the result
// of guard_break() (break_guard.hpp), which blocks the program break (brk): 0, or an error number.
int run_space_daemon(int listening, int founder, int break_failure);

}  // namespace urakata::space
