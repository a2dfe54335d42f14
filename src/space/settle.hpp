// What a task does first, so that its own memory can be told from that of others.
#pragma once

namespace urakata::space {

// Where the process is a task: its C library maps memory in the task's territory from now on, and its forks leave
// others' out. Does nothing in other processes, nor a second time, whichever library calls it. Before there are
// threads.
void settle();

}  // namespace urakata::space
