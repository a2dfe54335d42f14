// SPDX-License-Identifier: BSD-3-Clause
// The cells of an offload's slot (frame.h), as the slot's process uses them: rows and results of the operations that
// have a cell, and the time when a cell goes to a later operation.
//
// Operation n uses cell n % URA_XDP_CELLS. It has the cell once operation n - URA_XDP_CELLS has given the cell up: that
// operation's result has been taken, and all ranks that need this rank's row have it. So cells become free in the order
// of their operations. Ranks are ranks of the group. A set of ranks is a word of bits, with bit(rank) for each rank.
//
// Thread-safety: done() by any thread; all else by the thread that owns the offload. eBPF code on other cores fills
// rows, computes results and notes answers at the same time. What it shares with this process is accessed atomically.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/reducer.hpp"
#include "xdp/frame.h"

namespace urakata::xdp {

inline constexpr std::uint32_t bit(std::uint32_t rank) { return 1U << rank; }

// Whether operation `a` is before operation `b`. Their numbers wrap.
inline constexpr bool is_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

class Cells {
 public:
  explicit Cells(ura_xdp_slot& slot) : slot_(slot) {}

  // Gives the cells to the first operations of a group with `ranks` ranks. The slot must not take frames yet.
  void join(std::uint32_t rank, std::uint32_t ranks);
  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }

  // The ranks whose rows this rank needs, and the ranks that need this rank's row. `form`: URA_XDP_FORM.
  std::uint32_t needs(std::uint32_t form) const { return ura_xdp_needs(form, rank_, ranks_); }
  std::uint32_t receivers(std::uint32_t form) const;

  bool has_cell(std::uint32_t number) const;
  // Unless they say otherwise, the following functions are for operations that have a cell.

  // Puts this rank's input into its row. `to`: receivers() of the form. Returns whether it was the last row that this
  // rank needs: the caller must then call compute().
  bool give(std::uint32_t number, std::uint32_t form, const std::byte* from, std::uint32_t to);
  // This rank's row, as it is sent.
  __u8* own_row(std::uint32_t number) const { return cell_of(number).rows[rank_]; }
  // Computes the result, as eBPF code does if the last row comes from another rank. `reducer`: as in Work.
  void compute(std::uint32_t number, std::uint32_t form, const reduce::Reducer* reducer);
  // Whether the result has been computed, or the operation has failed. False while the operation has no cell yet, and
  // always if this rank needs no rows.
  bool done(std::uint32_t number) const {
    return __atomic_load_n(&cell_of(number).done, __ATOMIC_ACQUIRE) >> 1U == number;
  }
  // The other ranks whose rows this rank needs and does not have.
  std::uint32_t missing(std::uint32_t number, std::uint32_t form) const;
  // Copies the result to `into`; nullptr: nowhere. The operation must be done(), or one from which this rank gets
  // nothing. The root of a broadcast keeps its buffer. False: the operation has failed.
  bool take(std::uint32_t number, std::uint32_t form, std::byte* into) const;

  // To be called when operation finished() has ended and its result has been taken.
  void note_finished() { slot_.finished[rank_] = ++finished_; }
  std::uint32_t finished() const { return finished_; }  // all operations before this one have been taken

  // The operation of the oldest cell that is not free, and its form.
  std::uint32_t oldest() const { return oldest_; }
  std::uint32_t oldest_form() const { return forms_[oldest_ & (URA_XDP_CELLS - 1)]; }
  // Whether the result of operation oldest() has been taken, so that its cell is kept for other ranks only.
  bool oldest_ended() const { return is_before(oldest_, finished_); }
  // Whether no cell is kept for other ranks only.
  bool all_free() const { return oldest_ == finished_; }
  // The ranks that need this rank's row of operation oldest() and may not have it yet.
  std::uint32_t lacking() const;
  // Notes that these ranks have left the communicator, and need nothing more.
  void note_left(std::uint32_t ranks) { left_ |= ranks; }
  // Gives cells that are kept for no rank any more to later operations. Returns whether there were any.
  bool free();

 private:
  ura_xdp_cell& cell_of(std::uint32_t number) const { return slot_.cells[number & (URA_XDP_CELLS - 1)]; }
  bool agreed(const ura_xdp_cell& cell, std::uint32_t form) const;

  ura_xdp_slot& slot_;
  std::uint32_t rank_ = 0;
  std::uint32_t ranks_ = 0;
  std::uint32_t left_ = 0;                   // ranks that have left
  std::uint32_t finished_ = 0;               // all operations before this one have been taken
  std::uint32_t oldest_ = 0;                 // the first operation whose cell is not free yet
  std::uint32_t forms_[URA_XDP_CELLS] = {};  // by cell: form of the operation that has it
};

}  // namespace urakata::xdp
