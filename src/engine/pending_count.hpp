// SPDX-License-Identifier: BSD-3-Clause
// How much is pending in a domain: how many instances were submitted and have not finished, and how many of them end
// without a sign from a socket. All counts are parts of one atomic word, so that a reader sees those of one moment.
// Each change of the word is one atomic operation, or a plain load and store if only one thread runs Urakata at a time
// (base/threads.hpp).
//
// Two further entries keep the domain polling without an instance. `listening`: after a failure, other ranks may still
// report failures. `flushing`: a send that was reported complete is not acknowledged by its receiver, and may have to
// be sent again.
//
// Thread-safety: reading and add() by any thread, all else by the domain's owner.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/threads.hpp"

namespace urakata::engine {

class PendingCount {
 public:
  // What some instances count for together.
  struct Weight {
    std::uint32_t all = 0;      // below 2^30
    std::uint32_t further = 0;  // how many of them are the two further entries
    std::uint32_t silent = 0;   // how many of them end without a sign from a socket

    Weight& operator+=(const Weight& other) {
      all += other.all;
      further += other.further;
      silent += other.silent;
      return *this;
    }
  };

  // Counts the two further entries, too. seq_cst, as in Dekker's algorithm: a progress thread stores that it is about
  // to sleep, then loads the count. A submitting thread adds to the count, then loads the progress thread's state. At
  // least one of the two sees the other's store.
  std::uint32_t all() const { return weight().all; }
  // Whether an instance is pending. The two further entries do not count.
  bool unfinished() const {
    const Weight now = weight();
    return now.all > now.further;
  }
  // Whether something is pending, and a socket tells of the end of all of it.
  bool network_only() const {
    const Weight now = weight();
    return now.all != 0 && now.silent == 0;
  }
  bool listening() const { return listening_.load(std::memory_order_relaxed); }
  bool flushing() const { return flushing_.load(std::memory_order_relaxed); }

  // Counts instances before they are submitted. seq_cst: see all().
  void add(const Weight& more) { word_.fetch_add(word_of(more), std::memory_order_seq_cst); }
  // add() for the owner.
  void add_by_owner(const Weight& more) { fetch_add(word_, word_of(more), std::memory_order_seq_cst); }
  void remove(const Weight& finished) { fetch_add(word_, 0 - word_of(finished), std::memory_order_relaxed); }
  void note_listening(bool listening) { count_flag(listening_, listening, {.all = 1, .further = 1, .silent = 1}); }
  void note_flushing(bool flushing) { count_flag(flushing_, flushing, {.all = 1, .further = 1, .silent = 0}); }

 private:
  static constexpr std::uint64_t word_of(const Weight& weight) {
    return std::uint64_t{weight.silent} << kSilentBit | std::uint64_t{weight.further} << kFurtherBit | weight.all;
  }
  Weight weight() const {
    const std::uint64_t word = word_.load(std::memory_order_seq_cst);
    return {.all = static_cast<std::uint32_t>(word) & ((1U << kFurtherBit) - 1),
            .further = static_cast<std::uint32_t>(word) >> kFurtherBit,
            .silent = static_cast<std::uint32_t>(word >> kSilentBit)};
  }
  // Adds or removes one of the two further entries. While an entry is counted, its flag is set.
  void count_flag(std::atomic<bool>& flag, bool stands, const Weight& weight) {
    if (stands == flag.load(std::memory_order_relaxed)) return;
    if (stands) {
      flag.store(true, std::memory_order_relaxed);
      fetch_add(word_, word_of(weight), std::memory_order_seq_cst);
    } else {
      fetch_add(word_, 0 - word_of(weight), std::memory_order_seq_cst);
      flag.store(false, std::memory_order_relaxed);
    }
  }

  // Bits of a field of Weight in the word begin here; `all` begins at 0.
  static constexpr unsigned kFurtherBit = 30, kSilentBit = 32;
  std::atomic<std::uint64_t> word_{0};
  std::atomic<bool> listening_{false};  // written by the owner, as is the next
  std::atomic<bool> flushing_{false};
};

}  // namespace urakata::engine
