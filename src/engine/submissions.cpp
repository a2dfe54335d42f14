// SPDX-License-Identifier: BSD-3-Clause
#include "engine/submissions.hpp"

namespace urakata::engine {

void Submissions::push(Instance& first, Instance& last) {
  Instance* head = newest_.load(std::memory_order_relaxed);
  do {
    first.next = head;
  } while (!newest_.compare_exchange_weak(head, &last, std::memory_order_release, std::memory_order_relaxed));
}

Instance* Submissions::take_all() {
  if (newest_.load(std::memory_order_relaxed) == nullptr) return nullptr;
  Instance* newest = newest_.exchange(nullptr, std::memory_order_acquire);
  Instance* oldest = nullptr;
  while (newest != nullptr) {  // reverse the order
    Instance* following = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = following;
  }
  return oldest;
}

}  // namespace urakata::engine
