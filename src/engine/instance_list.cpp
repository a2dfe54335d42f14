// SPDX-License-Identifier: BSD-3-Clause
#include "engine/instance_list.hpp"

namespace urakata::engine {

void InstanceList::push_back(Instance& instance) {
  instance.next = nullptr;
  instance.previous = back_;
  (back_ != nullptr ? back_->next : front_) = &instance;
  back_ = &instance;
}

void InstanceList::remove(Instance& instance) {
  (instance.previous != nullptr ? instance.previous->next : front_) = instance.next;
  (instance.next != nullptr ? instance.next->previous : back_) = instance.previous;
}

}  // namespace urakata::engine
