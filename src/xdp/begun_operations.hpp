// SPDX-License-Identifier: BSD-3-Clause
// The operations of an offload that have been started and whose results have not been taken, in the order of their
// numbers. The last of them may have no cell yet: this rank's inputs to them wait here.
//
// Thread-safety: can_progress() and in_flight() by any thread; all else by the thread that owns the offload.
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
  const reduce::Reducer* reducer = nullptr;  // for the form's operation and type; must live until the operation has
                                             // ended; nullptr: nothing is reduced
};

struct BegunOperation {
  std::uint32_t number = 0;
  Work work = {};
  std::byte* take = nullptr;            // where the result goes
  void* whose = nullptr;                // as Offload::start() was given it
  bool given = false;                   // whether there is a cell, and this rank's input, if any, is in it
  std::vector<std::byte> waiting = {};  // this rank's input, until there is a cell
};

class BegunOperations {
 public:
  explicit BegunOperations(const Cells& cells) : cells_(cells) {}

  // Appends the operation next(). The caller must call note_awaited() afterwards.
  BegunOperation& add(const Work& work, std::byte* take, void* whose);
  bool empty() const { return begun_.empty(); }
  const BegunOperation& front() const { return begun_.front(); }
  auto begin() { return begun_.begin(); }
  auto end() { return begun_.end(); }
  // Removes the first operation. The caller must call note_taken() afterwards, once for several removals.
  void pop_front() { begun_.pop_front(); }
  void note_taken();
  void clear();
  bool has(const void* whose) const;            // whether one of them was started with `whose`
  std::uint32_t next() const { return next_; }  // number of the next operation

  // Whether the first operation, which must exist, has ended.
  bool front_ended() const;
  // To be called when another operation has become the first, or the first has got this rank's input.
  void note_awaited();
  // Whether the first operation may have ended.
  bool can_progress() const;
  std::size_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }

 private:
  const Cells& cells_;
  std::uint32_t next_ = 0;
  std::deque<BegunOperation> begun_;
  std::atomic<std::size_t> in_flight_{0};
  // For can_progress(): the number of the first operation; kEnded if it had ended at note_awaited(); kNothing if there
  // is none. One word, so that a reader never sees the number of one state with another state.
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  static constexpr std::uint64_t kEnded = kNothing - 1;
  std::atomic<std::uint64_t> awaited_{kNothing};
};

}  // namespace urakata::xdp
