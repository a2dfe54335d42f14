// SPDX-License-Identifier: BSD-3-Clause
// The cells of an offload's slot (frame.h), as its process uses them: rows and results of the operations that have one,
// and when a cell goes to a later operation.
//
// Operation n uses cell n % URA_XDP_CELLS. It has the cell once operation n - URA_XDP_CELLS has given it up: that one
// has ended here, and all who need this rank's row have it. So cells become free in the order of their operations.
// Ranks are ranks of the group; sets of them are bits, bit(rank) each.
//
// Thread-safety: by the thread that owns the offload, but for done(), which any thread may call. eBPF code on other
// cores fills rows, computes results and notes answers at the same time: what it shares is accessed atomically.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/reducer.hpp"
#include "xdp/frame.h"

namespace urakata::xdp {

inline constexpr std::uint32_t bit(std::uint32_t rank) { return 1U << rank; }

// Is operation `a` before operation `b`? Their numbers wrap.
inline constexpr bool is_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

class Cells {
 public:
  explicit Cells(ura_xdp_slot& slot) : slot_(slot) {}

  // Makes the cells those of the first operations, for this rank of a group of so many. Frames are not taken yet.
  void join(std::uint32_t rank, std::uint32_t ranks);
  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }

  // Those whose rows this rank needs, and those who need its own. Form: URA_XDP_FORM.
  std::uint32_t needs(std::uint32_t form) const { return ura_xdp_needs(form, rank_, ranks_); }
  std::uint32_t receivers(std::uint32_t form) const;

  bool has_cell(std::uint32_t number) const;
  // What follows is about operations that have a cell, unless it says otherwise.

  // Puts what this rank gives into its row. `to`: receivers() of the form. True: it was the last row that this rank
  // needs, so compute() follows.
  bool give(std::uint32_t number, std::uint32_t form, const std::byte* from, std::uint32_t to);
  // This rank's row, as it is sent.
  __u8* own_row(std::uint32_t number) const { return cell_of(number).rows[rank_]; }
  // Computes the result, as eBPF code does where the last row comes from another node. `reducer`: nullptr: nothing is
  // reduced.
  void compute(std::uint32_t number, std::uint32_t form, const reduce::Reducer* reducer);
  // Is the result there? Of an operation without a cell: false.
  bool done(std::uint32_t number) const {
    return __atomic_load_n(&cell_of(number).done, __ATOMIC_ACQUIRE) >> 1U == number;
  }
  // Those whose rows this rank needs and does not have.
  std::uint32_t missing(std::uint32_t number, std::uint32_t form) const;
  // Copies the result of an operation that is done, or from which this rank gets nothing, to `into`, which may be
  // nullptr. False: the operation has failed.
  bool take(std::uint32_t number, std::uint32_t form, std::byte* into) const;

  // The operation after the last that was taken has been taken.
  void note_finished() { slot_.finished[rank_] = ++finished_; }
  std::uint32_t finished() const { return finished_; }  // all operations before this one have ended here

  // The operation of the oldest cell that is not free, and its form.
  std::uint32_t oldest() const { return oldest_; }
  std::uint32_t oldest_form() const { return forms_[oldest_ & (URA_XDP_CELLS - 1)]; }
  // Has it ended here, so that its cell is only kept for others?
  bool oldest_ended() const { return is_before(oldest_, finished_); }
  bool all_free() const { return oldest_ == finished_; }
  // Those who may not have this rank's row of it yet.
  std::uint32_t lacking() const;
  // These ranks have left the communicator, and need nothing more.
  void note_left(std::uint32_t ranks) { left_ |= ranks; }
  // Gives cells whose operations nobody needs any more to later ones. Returns whether there were any.
  bool free();

 private:
  ura_xdp_cell& cell_of(std::uint32_t number) const { return slot_.cells[number & (URA_XDP_CELLS - 1)]; }
  bool agreed(const ura_xdp_cell& cell, std::uint32_t form) const;

  ura_xdp_slot& slot_;
  std::uint32_t rank_ = 0;
  std::uint32_t ranks_ = 0;
  std::uint32_t left_ = 0;                   // ranks that have left
  std::uint32_t finished_ = 0;               // all before it have ended here
  std::uint32_t oldest_ = 0;                 // whose cell is not free yet
  std::uint32_t forms_[URA_XDP_CELLS] = {};  // of the operations that have cells
};

}  // namespace urakata::xdp
