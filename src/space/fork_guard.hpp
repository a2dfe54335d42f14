// SPDX-License-Identifier: BSD-3-Clause
// A fork of a task copies the task's own memory, not that of the other tasks of the space.
#pragma once

#include <cstddef>

#include "space/registry.hpp"

namespace urakata::space {

// From now on each fork() of the process leaves out the address ranges of the other tasks: the child has no memory
// there. Threads and tasks that fork at the same time do so one after the other. _Fork() and the bare system call run
// no handlers, so they copy all memory. If another task is in a fork() at that moment, such a child may lack memory. To
// be called at most once by each task.
//
// Memory that a program leaves out of its forks itself (MADV_DONTFORK, as libraries do for memory that a network card
// writes) stays left out. The kernel has one mark for both purposes. So a fork notes where the programs' marks are, and
// puts them back. To find them, it reads the kernel's list of all mappings, but only once some task has given such
// advice. Advice that is needless on this kernel does not count (registered_memory.hpp).
void leave_others_out_of_forks(const Membership& membership);

// Does what the program's madvise() asks for (own_mappings.hpp). Returns 0, or minus the kernel's error number. Advice
// about forks waits until no other thread or task forks. Any thread and any signal handler may call it.
long advise_for_program(void* place, std::size_t bytes, int advice);

}  // namespace urakata::space
