// SPDX-License-Identifier: BSD-3-Clause
// Settings of the C library's malloc in a task. Every task has a C library of its own, but all share one page table.
#pragma once

#include <malloc.h>

#include <cstdlib>
#include <cstring>

namespace urakata::space {

// Variables in the environment of a task, unless the user has set one of them. Each unmapping interrupts all ranks of
// the space, so malloc is to keep its memory. Only blocks from 32 MiB on are mapped separately: that is the highest
// threshold that the C library takes. The top of the heap is not given back. GLIBC_TUNABLES would not serve: to read
// that variable, a C library as old as 2.31 moves the program break. No task may do that, and the program would end.
inline constexpr const char* kTunablesVariable = "GLIBC_TUNABLES";
inline constexpr const char* kMmapVariable = "MALLOC_MMAP_THRESHOLD_";
inline constexpr const char* kMmapValue = "33554432";
inline constexpr const char* kTrimVariable = "MALLOC_TRIM_THRESHOLD_";
inline constexpr const char* kTrimValue = "4294967296";
inline constexpr int kMmapThreshold = 32 << 20;  // bytes

// As long as an object exists, malloc maps large tables separately, so that their pages take no memory until they are
// used. An MPI library allocates half a MiB of such tables in each rank when it starts, and uses little of them. In the
// heap calloc() would have to clear them. Does nothing outside a space, or if the user has set thresholds. For the
// thread that calls MPI_Init.
class FreshTables {
 public:
  explicit FreshTables(bool in_space) {
    const char* const threshold = std::getenv(kMmapVariable);
    ours_ = in_space && threshold != nullptr && std::strcmp(threshold, kMmapValue) == 0;
    if (ours_) mallopt(M_MMAP_THRESHOLD, kTable);
  }
  ~FreshTables() {
    if (ours_) mallopt(M_MMAP_THRESHOLD, kMmapThreshold);
  }
  FreshTables(const FreshTables&) = delete;
  FreshTables& operator=(const FreshTables&) = delete;

 private:
  static constexpr int kTable = 64 << 10;  // bytes
  bool ours_;
};

}  // namespace urakata::space
