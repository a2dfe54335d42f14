// SPDX-License-Identifier: BSD-3-Clause
// The operations of an offload that have begun and have not been taken, in the order of their numbers. Those at the end
// may have no cell yet: what they give waits here.
//
// Thread-safety: by the thread that owns the offload, but for can_progress() and in_flight(), which any thread may call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "reduce/reducer.hpp"
#include "xdp/cells.hpp"

namespace urakata::xdp {

struct Work {
  std::uint32_t form = 0;                    // URA_XDP_FORM
  const reduce::Reducer* reducer = nullptr;  // of the form's operation and type; lives until the operation has ended;
                                             // nullptr: nothing is reduced
};

struct BegunOperation {
  std::uint32_t number = 0;
  Work work = {};
  std::byte* take = nullptr;  // where its result goes
  void* whose = nullptr;
  bool given = false;                   // this rank's row; so it has a cell
  std::vector<std::byte> waiting = {};  // what it gives, until there is a cell
};

class BegunOperations {
 public:
  explicit BegunOperations(const Cells& cells) : cells_(cells) {}

  BegunOperation& add(const Work& work, std::byte* take, void* whose);
  bool empty() const { return begun_.empty(); }
  const BegunOperation& front() const { return begun_.front(); }
  auto begin() { return begun_.begin(); }
  auto end() { return begun_.end(); }
  // The first has been taken. in_flight() and can_progress() follow with note_taken(), once for several.
  void pop_front() { begun_.pop_front(); }
  void note_taken();
  void clear();
  bool has(const void* whose) const;
  std::uint32_t next() const { return next_; }  // number of the next operation

  // Has the first, which is there, ended?
  bool front_ended() const;
  // What can_progress() looks at has changed.
  void note_awaited();
  // May the first have ended?
  bool can_progress() const;
  std::size_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }

 private:
  const Cells& cells_;
  std::uint32_t next_ = 0;
  std::deque<BegunOperation> begun_;
  std::atomic<std::size_t> in_flight_{0};
  // For can_progress(): the number of the oldest that has not ended, kNothing, or kEnded. One word, so that a reader never
  // sees the number of one state with another state.
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  static constexpr std::uint64_t kEnded = kNothing - 1;
  std::atomic<std::uint64_t> awaited_{kNothing};
};

}  // namespace urakata::xdp
