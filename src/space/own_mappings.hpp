// Where a task's C library maps memory: the kernel would mix the mappings of all tasks, and keeps no record of whose
// they are.
//
// malloc, thread stacks and all else in the C library call its mmap() directly, so no other definition of that name is
// ever asked. Its first instructions are therefore replaced by a jump, as UCX (bistro) and Open MPI (patcher) do for
// their caches of registered memory. One of these may later put its own jump there: then the kernel places mappings
// again.
#pragma once

#include "space/registry.hpp"

namespace urakata::space {

// From now on anonymous mappings for which the caller names no address go to the task's territory, downwards from its
// edge. Where it has no room at that place, and for files, the kernel chooses (files here would take more page tables);
// so it does for the dynamic linker, which has calls of its own. False: the library's mmap()
// is not of the form that is known here, or its code cannot be changed; nothing has changed then. To be called once,
// before the process has threads.
bool map_in_territory(const Membership& membership);

}  // namespace urakata::space
