// Where a task's C library maps memory: the kernel would mix the mappings of all tasks, and keeps no record of whose
// they are.
//
// malloc, thread stacks and all else in the C library call its mmap() directly, so no other definition of that name is
// ever asked. Its first instructions are therefore replaced by a jump, as UCX (bistro) and Open MPI (patcher) do for
// their caches of registered memory. One of these may later put its own jump there: then the kernel places mappings
// again. madvise() is replaced likewise (fork_guard.hpp, registered_memory.hpp); where it has such a jump already, calls
// that are not about forks go there.
#pragma once

#include <optional>

#include "space/registry.hpp"

namespace urakata::space {

// From now on anonymous mappings for which the caller names no address go to the task's own address ranges, at the
// address that claim() returns. The kernel chooses the address instead where that one is taken, for files (which would
// need more page tables here), and for the dynamic linker, which has a mmap() of its own. False: the C library's mmap()
// has another form than is known here, or its code cannot be changed. The kernel then places all mappings. To be called
// once, before the process has threads.
bool map_in_own_ranges(const Membership& membership);

// While it lives, the task takes part in one file that all map at a place of its own choice to read it, in memory that
// is shared: the task that comes second has it at that place because the first has. So is the topology that a
// launcher's hwloc has written for all its ranks, which holds addresses; a rank that cannot have it there reads XML,
// and keeps some 100 KiB. Nobody can unmap the file from then on (mseal(), Linux 6.10; nothing is shared where it is
// not to be had). Only where map_in_own_ranges() has been called. Any thread, one at a time.
class SharedFiles {
 public:
  explicit SharedFiles(std::optional<Membership> membership);
  ~SharedFiles();
  SharedFiles(const SharedFiles&) = delete;
  SharedFiles& operator=(const SharedFiles&) = delete;

 private:
  std::optional<Membership> membership_;
};

}  // namespace urakata::space
