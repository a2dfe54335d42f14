// SPDX-License-Identifier: BSD-3-Clause
// Call sites by key: a lock-free hash table with open addressing. The first find() of a key adds the site.
//
// Thread-safety: find() and all() by any thread at any time. find() allocates at the first sight of a key only, and may
// then throw std::bad_alloc. Sites live as long as the table.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace urakata::observe {

// An Entry is constructed from (key, more..., number), and has the members number() and matches(key).
template <class Entry, class Key>
class CallSiteTable {
 public:
  static constexpr std::uint32_t kMost = 4096;

  CallSiteTable() = default;
  ~CallSiteTable() {
    for (auto& entry : entries_) std::unique_ptr<Entry>(entry.load(std::memory_order_relaxed)).reset();
  }
  CallSiteTable(const CallSiteTable&) = delete;
  CallSiteTable& operator=(const CallSiteTable&) = delete;

  // The site of `key`, whose hash is `hash`; nullptr: the key is new, and all kMost numbers are taken.
  template <class... More>
  Entry* find(std::uint64_t hash, const Key& key, const More&... more) {
    std::unique_ptr<Entry> fresh;
    for (std::uint64_t i = hash;; ++i) {
      auto& entry = entries_[i % kEntries];
      Entry* found = entry.load(std::memory_order_acquire);
      if (found == nullptr) {
        if (!fresh) {
          // A number that a thread took and then did not need, because another added the same key first, stays unused.
          std::uint32_t number = count_.load(std::memory_order_relaxed);
          do {
            if (number == kMost) return nullptr;
          } while (!count_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed));
          fresh = std::make_unique<Entry>(key, more..., number);
        }
        if (entry.compare_exchange_strong(found, fresh.get(), std::memory_order_release, std::memory_order_acquire)) {
          return fresh.release();
        }
      }
      if (found->matches(key)) return found;
    }
  }

  std::vector<const Entry*> all() const {  // in the order of first sight
    std::vector<const Entry*> sites;
    for (const auto& entry : entries_) {
      if (const Entry* site = entry.load(std::memory_order_acquire)) sites.push_back(site);
    }
    std::sort(sites.begin(), sites.end(), [](const Entry* x, const Entry* y) { return x->number() < y->number(); });
    return sites;
  }

 private:
  static constexpr std::uint32_t kEntries = 2 * kMost;  // a power of two; never more than half full

  // An entry is written once, from nullptr, with release order. Readers load it with acquire order, so they see the
  // whole site that it points to.
  std::array<std::atomic<Entry*>, kEntries> entries_{};
  std::atomic<std::uint32_t> count_{0};  // numbers taken
};

}  // namespace urakata::observe
