// SPDX-License-Identifier: BSD-3-Clause
// The instances that were submitted to a domain and not taken in yet: a lock-free stack, linked by their `next`.
//
// Thread-safety: push() by any thread, take_all() by the domain's owner.
#pragma once

#include <atomic>

#include "engine/instance.hpp"

namespace urakata::engine {

class Submissions {
 public:
  // Adds a chain of instances at once, linked by `next` from `last`, the newest, to `first`. The owner that takes them
  // sees what this thread wrote before.
  void push(Instance& first, Instance& last);
  // Takes all instances and links them by `next` in the order of submission. Returns the oldest; nullptr: no instances.
  Instance* take_all();

 private:
  std::atomic<Instance*> newest_{nullptr};  // release on push, acquire on take
};

}  // namespace urakata::engine
