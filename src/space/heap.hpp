// How the C library's malloc is set in a task. Every task has a C library of its own, but all share the page table.
#pragma once

#include <malloc.h>

#include <cstdlib>
#include <cstring>

namespace urakata::space {

// The environment of a task whose user has set none of these. Each unmapping interrupts all ranks of the space, so memory
// is kept: it is mapped by itself from 32 MiB on, the highest threshold that the C library takes, and the top of the heap
// is not given back. Not by GLIBC_TUNABLES: to read that, a C library as old as 2.31 moves the program break, which no
// task may, and ends the program.
inline constexpr const char* kTunablesVariable = "GLIBC_TUNABLES";
inline constexpr const char* kMmapVariable = "MALLOC_MMAP_THRESHOLD_";
inline constexpr const char* kMmapValue = "33554432";
inline constexpr const char* kTrimVariable = "MALLOC_TRIM_THRESHOLD_";
inline constexpr const char* kTrimValue = "4294967296";
inline constexpr int kMmapThreshold = 32 << 20;  // bytes

// While it lives, large tables get memory of their own, untouched until they are used: a host allocates half a MiB of
// such tables a rank when it starts, and uses little of them. In a heap, calloc() would have to clear them. Does
// nothing outside a space, and where the user has set thresholds. For the task's own thread.
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
