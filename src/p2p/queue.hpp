// SPDX-License-Identifier: BSD-3-Clause
// A first-in first-out queue of objects that carry their own `next`. Owns nothing, allocates nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace urakata::p2p {

template <class T>
class Queue {
 public:
  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }
  T* first() const { return first_; }

  void push(T& item) {
    item.next = nullptr;
    *end_ = &item;
    end_ = &item.next;
    ++size_;
  }

  // Inserts the item before the first one for which `before` holds; as the last if there is none.
  template <class Before>
  void insert(T& item, Before before) {
    T** link = &first_;
    while (*link != nullptr && !before(**link)) link = &(*link)->next;
    if (*link == nullptr) return push(item);
    item.next = *link;
    *link = &item;
    ++size_;
  }

  // Takes out the first item for which `wanted` holds; nullptr if there is none.
  template <class Wanted>
  T* take(Wanted wanted) {
    for (T** link = &first_; *link != nullptr; link = &(*link)->next) {
      if (wanted(**link)) return unlink(link);
    }
    return nullptr;
  }

  // Takes out all items for which `wanted` holds, oldest first; `wanted` may dispose of them.
  template <class Wanted>
  void take_all(Wanted wanted) {
    for (T** link = &first_; *link != nullptr;) {
      T* const next = (*link)->next;
      T** const after = &(*link)->next;
      T* const item = *link;
      if (wanted(*item)) {
        *link = next;
        if (end_ == after) end_ = link;
        --size_;
      } else {
        link = after;
      }
    }
  }

  // As take_all(), but an item that stays keeps all later items with the same key in the queue. If 16 keys stay, all
  // later items stay. Returns whether any item was taken.
  template <class Key, class Wanted>
  bool take_in_order(Key key, Wanted wanted) {
    std::array<decltype(key(*first_)), 16> staying{};
    std::size_t kept = 0;
    bool any = false;
    take_all([&](T& item) {
      if (kept == staying.size()) return false;  // too many to tell apart: the rest waits
      const auto its = key(item);
      if (std::find(staying.begin(), staying.begin() + kept, its) != staying.begin() + kept) return false;
      if (!wanted(item)) {
        staying[kept++] = its;
        return false;
      }
      any = true;
      return true;
    });
    return any;
  }

 private:
  T* unlink(T** link) {
    T* const item = *link;
    *link = item->next;
    if (end_ == &item->next) end_ = link;
    --size_;
    return item;
  }

  T* first_ = nullptr;
  T** end_ = &first_;
  std::size_t size_ = 0;
};

}  // namespace urakata::p2p
