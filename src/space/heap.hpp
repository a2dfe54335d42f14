// How the C library's malloc is set in a task. Every task has a C library of its own, but all share the page table.
#pragma once

#include <malloc.h>

#include <cstdlib>
#include <cstring>

namespace urakata::space {

// What GLIBC_TUNABLES holds in a task whose user has not set it. Each unmapping interrupts all ranks of the space, so
// memory is kept: it is mapped by itself from 32 MiB on, the highest threshold that the C library takes, and the top of
// the heap is not given back.
inline constexpr const char* kTunables =
    "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=4294967296";
inline constexpr int kMmapThreshold = 32 << 20;  // bytes

// While it lives, large tables get memory of their own, untouched until they are used: a host allocates half a MiB of
// such tables a rank when it starts, and uses little of them. In a heap, calloc() would have to clear them. Does nothing
// outside a space, and where the user has set GLIBC_TUNABLES. For the task's own thread.
class FreshTables {
 public:
  explicit FreshTables(bool in_space) {
    const char* const tunables = std::getenv("GLIBC_TUNABLES");
    ours_ = in_space && tunables != nullptr && std::strcmp(tunables, kTunables) == 0;
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
