// SPDX-License-Identifier: BSD-3-Clause
// What was submitted to a domain and not taken in yet: a stack without a lock, linked by the instances' `next`.
//
// Thread-safety: push() by any thread, take_all() by the domain's owner.
#pragma once

#include <atomic>

#include "engine/instance.hpp"

namespace urakata::engine {

class Submissions {
 public:
  // Adds a chain of instances, linked by `next` from `last` to `first`: all at once. The owner that takes them sees
  // what this thread wrote before.
  void push(Instance& first, Instance& last);
  // Takes all, linked by `next` in the order of their submission, the oldest first; nullptr: there are none.
  Instance* take_all();

 private:
  std::atomic<Instance*> newest_{nullptr};  // release on push, acquire on take
};

}  // namespace urakata::engine
