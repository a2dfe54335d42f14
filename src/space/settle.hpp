// SPDX-License-Identifier: BSD-3-Clause
// The first step of a task: from then on its memory can be told from that of other tasks.
#pragma once

namespace urakata::space {

// If the process is a task: from now on its C library maps memory in the task's own address ranges, and its forks leave
// out the ranges of other tasks. Does nothing in other processes, nor in a second call, whichever library makes it. To
// be called before the process has threads.
void settle();

}  // namespace urakata::space
