// SPDX-License-Identifier: BSD-3-Clause
// Decides where the C library of a task maps memory. The kernel would mix the mappings of all tasks, and does not
// record which task a mapping belongs to.
//
// malloc, thread stacks and the rest of the C library call its mmap() directly, so another definition of that name
// would not be called. Therefore the first instructions of mmap() are replaced by a jump. UCX (bistro) and Open MPI
// (patcher) do the same for their caches of registered memory. If one of them puts its own jump there later, the
// kernel decides from then on. madvise() is replaced in the same way (fork_guard.hpp, registered_memory.hpp). If
// madvise() has such a jump already, all advice but MADV_DONTFORK and MADV_DOFORK goes to the target of that jump.
#pragma once

#include <optional>

#include "space/registry.hpp"

namespace urakata::space {

// From now on anonymous mappings for which the caller names no address go to the task's own address ranges, at the
// address that claim() returns (address_ranges.hpp). The kernel chooses the address in these cases:
//   - the address is in use;
//   - the mapping is larger than half of an overflow range, or has special flags (huge pages, 32-bit addresses);
//   - the mapping is of a file, which would need more page tables in the task's ranges;
//   - the dynamic linker maps memory: it has a mmap() of its own.
// Returns false if the first instructions of the C library's mmap() are not the expected ones, or cannot be changed;
// the kernel then places all mappings. To be called at most once, before the process has threads.
bool map_in_own_ranges(const Membership& membership);

// While an object exists, tasks that map a file read-only at the same fixed address share one mapping: the first of
// them maps the file, the others find it there.
//
// Such a file is the topology that a launcher's hwloc writes for all its ranks. It contains pointers, so it must lie
// at a fixed address. A rank that cannot map it there reads XML instead, into some 100 KiB of its own memory. The
// shared mapping is sealed, so that no task can unmap it (mseal(), Linux 6.10). Without mseal() nothing is shared. Has
// no effect before map_in_own_ranges(), and none without a membership. Any thread; a task has one object at a time.
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
