// SPDX-License-Identifier: BSD-3-Clause
// Counts what a whole test program allocates: included by one of its files, whose operators stand in place of the
// library's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace urakata::test {

inline std::atomic<std::uint64_t> allocations{0};

inline void* allocate(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) std::abort();
  return memory;
}

// Not inline: GCC would warn that memory of operator new is given to free().
[[gnu::noinline]] inline void release(void* memory) noexcept { std::free(memory); }

}  // namespace urakata::test

void* operator new(std::size_t bytes) { return urakata::test::allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return urakata::test::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { urakata::test::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { urakata::test::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { urakata::test::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { urakata::test::release(memory); }
