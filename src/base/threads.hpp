// SPDX-License-Identifier: BSD-3-Clause
// Atomic read-modify-write operations that need no locked instruction, which is slow, while one thread runs at a time.
#pragma once

#include <atomic>

namespace urakata {

// Whether at most one thread of this process runs Urakata's code at a time, and sees what those before it have done. The
// progress thread of a link does not count: it uses nothing of this file. Set in MPI_Init; false before.
inline constinit bool one_at_a_time = false;

// As the members of std::atomic of the same name. If `one_at_a_time` is true, they are plain loads and stores.
template <class T>
T fetch_add(std::atomic<T>& value, T more, std::memory_order order) {
  if (!one_at_a_time) return value.fetch_add(more, order);
  const T before = value.load(std::memory_order_relaxed);
  value.store(before + more, std::memory_order_relaxed);
  return before;
}

template <class T>
T exchange(std::atomic<T>& value, T other, std::memory_order order) {
  if (!one_at_a_time) return value.exchange(other, order);
  const T before = value.load(std::memory_order_relaxed);
  value.store(other, std::memory_order_relaxed);
  return before;
}

}  // namespace urakata
