// SPDX-License-Identifier: BSD-3-Clause
// Objects that are used again: made in chunks, never given back to the system before the pool itself ends. T has a
// `next`. Thread-safety: none. take() throws std::bad_alloc.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace urakata::p2p {

template <class T>
class Pool {
 public:
  T& take() {
    if (free_ == nullptr) grow();
    T* const item = free_;
    free_ = item->next;
    return *item;
  }
  void give(T& item) {
    item.next = free_;
    free_ = &item;
  }

 private:
  static constexpr std::size_t kChunk = 8;

  [[gnu::noinline]] void grow() {
    chunks_.push_back(std::make_unique<T[]>(kChunk));
    for (std::size_t i = kChunk; i-- > 0;) give(chunks_.back()[i]);
  }

  T* free_ = nullptr;
  std::vector<std::unique_ptr<T[]>> chunks_;
};

}  // namespace urakata::p2p
