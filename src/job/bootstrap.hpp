// SPDX-License-Identifier: BSD-3-Clause
// The few collectives that ranks meet by in MPI_Init: the shim has the MPI library do them, tests have threads.
//
// Every member is called by one thread at a time, by all ranks in the same order.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace urakata::job {

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual std::size_t rank() const = 0;
  virtual std::size_t ranks() const = 0;

  // Each of these returns false where the MPI library refuses; what it has written then is not to be used.
  // `all`: ranks() times own.size() bytes, in the order of ranks. `own` has the same size on every rank.
  virtual bool allgather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  virtual bool broadcast(std::span<std::byte> bytes, std::size_t root) = 0;
  // A barrier that one can do other things beside: ask barrier_passed() until it is true. One at a time.
  virtual bool begin_barrier() = 0;
  virtual bool barrier_passed() = 0;  // true also where the MPI library refuses

  // Such a barrier, to its end: `beside` is called until all are there, and gives the core away where others need it.
  template <class Beside>
  void meet(Beside beside) {
    if (!begin_barrier()) return;
    while (!barrier_passed()) beside();
  }

  // What every rank has given; empty where the MPI library refuses.
  template <class T>
  std::vector<T> gathered(const T& own) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(ranks());
    if (!allgather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)))) all.clear();
    return all;
  }
};

}  // namespace urakata::job
