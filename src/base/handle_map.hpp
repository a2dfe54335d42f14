// SPDX-License-Identifier: BSD-3-Clause
// A map from an MPI handle, by ABI a pointer or an integer, to an object of ours. The map does not own the object.
//
// Thread-safety: all members by any thread. Each thread remembers handles that it has found lately: find() takes no
// lock for those. insert(), and whatever takes a handle out of the map, makes all threads forget what they remember.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"

namespace urakata {

template <class Handle>
std::uintptr_t bits(Handle handle) {
  static_assert(sizeof(Handle) <= sizeof(std::uintptr_t));
  std::uintptr_t value = 0;
  std::memcpy(&value, &handle, sizeof handle);
  return value;
}

// The handle with these bits.
template <class Handle>
Handle handle_of(std::uintptr_t bits) {
  Handle handle{};
  std::memcpy(&handle, &bits, sizeof handle);
  return handle;
}

// A process has at most one map of each type: what a thread remembers is static, so recall() needs no map.
template <class Handle, class Object>
class HandleMap {
 public:
  struct Found {
    Object* object = nullptr;
    bool known = false;  // the handle is in the map. With object == nullptr: Urakata leaves it to the MPI library
  };

  // Looks only at what the calling thread remembers. If `known` is false, ignore `object`, and ask find().
  static Found recall(Handle handle) {
    const std::uintptr_t key = bits(handle);
    const Recent& recent = recent_of(key);
    const bool known = recent.epoch == epoch_.load(std::memory_order_acquire) && recent.key == key;
    return {recent.object, known};
  }

  Found find(Handle handle) {
    const Found found = recall(handle);
    return found.known ? found : search(bits(handle));
  }

  // Adds the handle, or gives it an object if it has none. Returns the object that the handle has then: another one
  // than `object` if one was inserted before.
  Object* insert(Handle handle, Object* object) {
    const LockGuard lock(mutex_);
    Withdrawn* const withdrawn = own_withdrawn(bits(handle));
    if (withdrawn != nullptr) withdrawn->known = true;
    Object*& there = withdrawn != nullptr ? withdrawn->object : map_[bits(handle)];
    if (there == nullptr) there = object;
    epoch_.fetch_add(1, std::memory_order_release);
    return there;
  }

  // Removes the handle, also one that the calling thread has withdrawn. Returns its object, for the caller to dispose
  // of; nullptr: there was none.
  Object* erase(Handle handle) {
    const LockGuard lock(mutex_);
    if (const Withdrawn* const withdrawn = own_withdrawn(bits(handle))) return remove(*withdrawn).object;
    return remove(bits(handle)).object;
  }

  // To be called before the calling thread frees the handle, since another thread may be given the same one before the
  // freeing call returns. Until erase() or restore() by the calling thread, only that thread finds the object.
  void withdraw(Handle handle) {
    const LockGuard lock(mutex_);
    withdrawn_.reserve(withdrawn_.size() + 1);
    const Found found = remove(bits(handle));
    withdrawn_.push_back({bits(handle), &recent_, found.object, found.known});
  }

  // Undoes withdraw(), if the handle was not freed. Does nothing if the calling thread has not withdrawn the handle.
  void restore(Handle handle) {
    const LockGuard lock(mutex_);
    const Withdrawn* const withdrawn = own_withdrawn(bits(handle));
    if (withdrawn == nullptr) return;
    const Withdrawn gone = remove(*withdrawn);
    if (gone.known) map_[gone.key] = gone.object;
  }

  // Calls visit(object) for each handle, withdrawn ones too; `object` may be nullptr. The lock is held meanwhile, so
  // `visit` must not call the map.
  template <class Visit>
  void for_each(Visit visit) {
    const LockGuard lock(mutex_);
    for (auto& [key, object] : map_) visit(object);
    for (const Withdrawn& one : withdrawn_) {
      if (one.known) visit(one.object);
    }
  }

 private:
  struct Withdrawn {
    std::uintptr_t key = 0;
    const void* thread = nullptr;  // the address of the withdrawing thread's `recent_`
    Object* object = nullptr;
    bool known = false;
  };
  struct Recent {
    std::uint64_t epoch = 0;
    std::uintptr_t key = 0;
    Object* object = nullptr;
  };
  // Small: if the program loads MPI by dlopen, all static thread-local storage of this library must fit into the
  // surplus that the dynamic linker keeps for libraries loaded late (about 1.5 KiB).
  static inline constinit thread_local std::array<Recent, 8> recent_{};
  static Recent& recent_of(std::uintptr_t key) { return recent_[(key ^ key >> 8U) % recent_.size()]; }

  // Not inlined, so that the fast path of find() needs no stack frame.
  [[gnu::noinline]] Found search(std::uintptr_t key) {
    const LockGuard lock(mutex_);
    if (const Withdrawn* const withdrawn = own_withdrawn(key)) return {withdrawn->object, withdrawn->known};
    const auto it = map_.find(key);
    if (it == map_.end()) return {};
    recent_of(key) = {epoch_.load(std::memory_order_relaxed), key, it->second};
    return {it->second, true};
  }

  // nullptr: the calling thread has not withdrawn the handle.
  Withdrawn* own_withdrawn(std::uintptr_t key) URAKATA_REQUIRES(mutex_) {
    for (Withdrawn& one : withdrawn_) {
      if (one.key == key && one.thread == &recent_) return &one;
    }
    return nullptr;
  }
  Found remove(std::uintptr_t key) URAKATA_REQUIRES(mutex_) {
    const auto it = map_.find(key);
    if (it == map_.end()) return {};
    const Found found{it->second, true};
    map_.erase(it);
    epoch_.fetch_add(1, std::memory_order_release);
    return found;
  }
  Withdrawn remove(const Withdrawn& one) URAKATA_REQUIRES(mutex_) {
    const Withdrawn gone = one;
    withdrawn_.erase(withdrawn_.begin() + std::distance<const Withdrawn*>(withdrawn_.data(), &one));
    return gone;
  }

  static inline constinit std::atomic<std::uint64_t> epoch_{1};
  Mutex mutex_;
  std::unordered_map<std::uintptr_t, Object*> map_ URAKATA_GUARDED_BY(mutex_);
  std::vector<Withdrawn> withdrawn_ URAKATA_GUARDED_BY(mutex_);
};

}  // namespace urakata
