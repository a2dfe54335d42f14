// SPDX-License-Identifier: BSD-3-Clause
// operator new and delete of Urakata alone: the program has its own. If there is no memory, the reserve serves small
// allocations (base/reserve.hpp).
//
// An allocation that the reserve cannot serve throws std::bad_alloc. MPI calls that may need as much turn it into
// MPI_ERR_NO_MEM (without_memory.hpp).
#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/reserve.hpp"

namespace {

namespace reserve = urakata::reserve;

void* allocated(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  return memory != nullptr ? memory : reserve::take(bytes, alignment);
}

void* plain(std::size_t bytes) noexcept {
  return allocated(std::malloc(bytes != 0 ? bytes : 1), bytes, alignof(std::max_align_t));
}

void* aligned(std::size_t bytes, std::align_val_t alignment) noexcept {
  const auto step = static_cast<std::size_t>(alignment);
  return allocated(std::aligned_alloc(step, (bytes + step - 1) / step * step), bytes, step);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_back(void* memory) noexcept {
  if (reserve::touched() && reserve::give(memory)) return;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return or_throw(plain(bytes)); }
void* operator new[](std::size_t bytes) { return or_throw(plain(bytes)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return plain(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return plain(bytes); }
void* operator new(std::size_t bytes, std::align_val_t step) { return or_throw(aligned(bytes, step)); }
void* operator new[](std::size_t bytes, std::align_val_t step) { return or_throw(aligned(bytes, step)); }
void* operator new(std::size_t bytes, std::align_val_t step, const std::nothrow_t&) noexcept {
  return aligned(bytes, step);
}
void* operator new[](std::size_t bytes, std::align_val_t step, const std::nothrow_t&) noexcept {
  return aligned(bytes, step);
}

void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { give_back(memory); }
