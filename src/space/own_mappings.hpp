// SPDX-License-Identifier: BSD-3-Clause
// Decides where a task's C library maps memory. The kernel would mix the mappings of all tasks, and does not record
// which task a mapping belongs to.
//
// malloc, thread stacks and the rest of the C library call its mmap() directly, so another definition of that name
// would not be called. Therefore the first instructions of mmap() are replaced by a jump. UCX (bistro) and Open MPI
// (patcher) do the same for their caches of registered memory. If one of them puts its own jump there later, the kernel
// places mappings again. madvise() is replaced in the same way (fork_guard.hpp, registered_memory.hpp). If it has such
// a jump already, calls that are not about forks go to the target of that jump.
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

// As long as an object exists, the task shares the mapping of one file that several tasks map read-only at the same
// address. The first task maps it. A task that asks for the same file at that address finds it there.
//
// Such a file is the topology that a launcher's hwloc writes for all its ranks: it holds addresses. A rank that cannot
// map it at its address reads XML instead, which takes some 100 KiB. The shared mapping is sealed, so that no task can
// unmap it (mseal(), Linux 6.10). Without mseal() nothing is shared. To be used after map_in_own_ranges(). Any thread,
// one at a time.
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
