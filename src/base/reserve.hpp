// SPDX-License-Identifier: BSD-3-Clause
// Memory set aside for when the process can allocate no more: operations under way can end, and other ranks be told.
//
// The reserve is a few blocks of address space. Nothing touches them while there is memory, so they occupy none. If
// malloc fails, a small allocation of Urakata's is served from the reserve. An operation starts only if enough() says
// that enough is left for those under way; enough() maps a new block if it can.
//
// Thread-safety: everything by any thread.
#pragma once

#include <atomic>
#include <cstddef>

namespace urakata::reserve {

inline constexpr std::size_t kBlock = 1024UL * 1024;  // bytes
// The largest allocation served, in bytes: enough for the book-keeping of an operation and for an unexpected message
// (128 KiB and its header), but not for the program's payload.
inline constexpr std::size_t kLargest = 160UL * 1024;
inline constexpr std::size_t kEnough = kBlock / 2;  // bytes left in one block; with less, no operation starts

// Sets the first block aside. If that fails for lack of address space, take() tries again.
void set_aside();

// Memory for `bytes`, aligned to `alignment` (a power of two), until give(). nullptr: too large, or nothing is left.
void* take(std::size_t bytes, std::size_t alignment);
// Takes memory back. False: `memory` is not from the reserve, as no memory is while touched() is false.
bool give(void* memory);

namespace detail {
inline constinit std::atomic<bool> touched{false};
bool refill();
}  // namespace detail

// Whether any memory was ever taken. Inline, so that a process with enough memory pays for a load only.
inline bool touched() { return detail::touched.load(std::memory_order_relaxed); }
// Whether a new operation may start.
inline bool enough() { return !touched() || detail::refill(); }

}  // namespace urakata::reserve
