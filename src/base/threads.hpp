// SPDX-License-Identifier: BSD-3-Clause
// What threads cost where there is only one: a locked instruction takes ten times as long as a plain one, and a start
// and a wait had a dozen.
#pragma once

#include <atomic>

namespace urakata {

// Does at most one thread of this process run our code at a time, and each after the one before? Set in MPI_Init.
inline constinit bool one_at_a_time = false;

// As the members of std::atomic of the same name, without a locked instruction where only one thread runs at a time.
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
