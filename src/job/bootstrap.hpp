// SPDX-License-Identifier: BSD-3-Clause
// The few collectives by which ranks exchange facts in MPI_Init. The shim implements them with the MPI library, tests
// with threads.
//
// Thread-safety: one thread at a time. All ranks call the collectives in the same order.
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

  // allgather(), broadcast() and begin_barrier() return false if the MPI library reports an error; the output is then
  // not to be used. `own` has the same size on every rank; `all` has ranks() times as many bytes, in rank order.
  virtual bool allgather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  virtual bool broadcast(std::span<std::byte> bytes, std::size_t root) = 0;
  // A non-blocking barrier, one at a time: the caller asks barrier_passed() until it is true.
  virtual bool begin_barrier() = 0;
  virtual bool barrier_passed() = 0;  // true also if the MPI library reports an error

  // A barrier that calls `beside` again and again until all ranks are there. Returns early if the MPI library reports
  // an error. `beside` should yield the core if other ranks may need it.
  template <class Beside>
  void meet(Beside beside) {
    if (!begin_barrier()) return;
    while (!barrier_passed()) beside();
  }

  // The value that each rank has given, by rank; empty if the MPI library reports an error. Collective.
  template <class T>
  std::vector<T> gathered(const T& own) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(ranks());
    if (!allgather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)))) all.clear();
    return all;
  }
};

}  // namespace urakata::job
