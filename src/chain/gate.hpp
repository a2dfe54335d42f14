// SPDX-License-Identifier: BSD-3-Clause
// A gate: an eventfd at which requests of one chain wait for signals of another chain. Each wait takes one signal.
//
// Requests name a gate by its descriptor. So it must live until the kernel has none of them any more.
//
// Thread-safety: by one thread at a time.
#pragma once

#include <utility>

namespace urakata::chain {

class Gate {
 public:
  Gate() = default;
  ~Gate();
  Gate(Gate&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Gate& operator=(Gate&&) = delete;

  // Makes the eventfd unless it exists. False: that failed, for lack of a descriptor or of memory.
  bool make();
  int descriptor() const { return descriptor_; }  // -1: not made yet
  // Takes a signal back, if there is one. Does not wait.
  void take();
  // After a failure: lets every wait through, also later ones. Does nothing if the gate is not made.
  void let_all_through();

 private:
  int descriptor_ = -1;
};

}  // namespace urakata::chain
