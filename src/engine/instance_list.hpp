// SPDX-License-Identifier: BSD-3-Clause
// A list of instances, linked by their `next` and `previous`. An instance is in one list at most.
//
// Thread-safety: by the domain's owner.
#pragma once

#include "engine/instance.hpp"

namespace urakata::engine {

class InstanceList {
 public:
  Instance* front() const { return front_; }  // nullptr: the list is empty
  void push_back(Instance& instance);
  void remove(Instance& instance);

 private:
  Instance* front_ = nullptr;
  Instance* back_ = nullptr;
};

}  // namespace urakata::engine
