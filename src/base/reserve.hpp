// SPDX-License-Identifier: BSD-3-Clause
// Memory that is set aside for when the process has no more: what is under way can then end, and other ranks be told.
//
// It is a few blocks of addresses that nobody touches as long as there is memory, so it takes none. Where an allocation
// fails it is served from here, if it is small, and whoever starts something new asks first whether there is enough
// left (enough()): that gets a new block where there is memory again. So nothing new begins on what others need to end.
//
// Thread-safety: everything by any thread.
#pragma once

#include <atomic>
#include <cstddef>

namespace urakata::reserve {

inline constexpr std::size_t kBlock = 1024UL * 1024;  // bytes
// What is served from it: the book-keeping of an operation, and a message that waits for its receive (128 KiB and its
// head); not the program's payload.
inline constexpr std::size_t kLargest = 160UL * 1024;
inline constexpr std::size_t kEnough = kBlock / 2;  // with less nothing new begins

// Sets the first block aside. Without one, since the process has no addresses for it, nothing is served.
void set_aside();

// Memory for `bytes`, of this alignment (a power of two); nullptr: there is none here.
void* take(std::size_t bytes, std::size_t alignment);
// True: it was from here, and is given back. To be asked only where touched().
bool give(void* memory);

namespace detail {
inline constinit std::atomic<bool> touched{false};
bool refill();
}  // namespace detail

// Was anything ever taken? Inline, as are all questions of those that have memory.
inline bool touched() { return detail::touched.load(std::memory_order_relaxed); }
// May something new begin?
inline bool enough() { return !touched() || detail::refill(); }

}  // namespace urakata::reserve
