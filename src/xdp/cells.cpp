// SPDX-License-Identifier: BSD-3-Clause
#include "xdp/cells.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace urakata::xdp {

void Cells::join(std::uint32_t rank, std::uint32_t ranks) {
  rank_ = rank;
  ranks_ = ranks;
  slot_.rank = rank;
  slot_.ranks = ranks;
  std::ranges::fill(slot_.finished, 0);
  for (std::uint32_t number = 0; number < URA_XDP_CELLS; ++number) {
    ura_xdp_cell& cell = cell_of(number);
    cell.done = URA_XDP_NEVER;
    cell.acknowledged = 0;
    cell.word = static_cast<__u64>(number) << 32U;
  }
}

std::uint32_t Cells::receivers(std::uint32_t form) const {
  std::uint32_t all = 0;
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (other != rank_ && (ura_xdp_needs(form, other, ranks_) & bit(rank_)) != 0) all |= bit(other);
  }
  return all;
}

bool Cells::has_cell(std::uint32_t number) const {
  return __atomic_load_n(&cell_of(number).word, __ATOMIC_ACQUIRE) >> 32U == number;
}

bool Cells::give(std::uint32_t number, std::uint32_t form, const std::byte* from, std::uint32_t to) {
  ura_xdp_cell& cell = cell_of(number);
  forms_[number & (URA_XDP_CELLS - 1)] = form;
  const std::uint32_t needed = needs(form);
  const bool needs_own = (needed & bit(rank_)) != 0;
  if (to == 0 && !needs_own) return false;
  const std::size_t bytes = URA_XDP_BYTES_OF(form);
  if (bytes != 0) std::memcpy(cell.rows[rank_], from, bytes);
  cell.forms[rank_] = form;
  const __u64 own = static_cast<__u64>(bit(rank_)) << 16U | bit(rank_);
  const __u64 full = __atomic_fetch_or(&cell.word, own, __ATOMIC_ACQ_REL) | own;
  return needs_own && (full & needed) == needed;
}

// Whether all rows that this rank needs are full, and were filled for this form. eBPF code compares the forms of rows
// only: if this rank gives no row, eBPF code does not know this rank's form.
bool Cells::agreed(const ura_xdp_cell& cell, std::uint32_t form) const {
  const std::uint32_t needed = needs(form);
  if ((needed & ~static_cast<std::uint32_t>(__atomic_load_n(&cell.word, __ATOMIC_RELAXED))) != 0) return false;
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if ((needed & bit(other)) != 0 && cell.forms[other] != form) return false;
  }
  return true;
}

void Cells::compute(std::uint32_t number, std::uint32_t form, const reduce::Reducer* reducer) {
  ura_xdp_cell& cell = cell_of(number);
  const bool right = agreed(cell, form);
  if (right && reducer != nullptr) {
    const std::size_t bytes = URA_XDP_BYTES_OF(form);
    alignas(16) std::array<std::byte, URA_XDP_BYTES> left;
    std::memcpy(left.data(), cell.rows[0], bytes);
    for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
      std::memcpy(cell.rows[URA_XDP_RESULT], cell.rows[rank], bytes);
      reducer->apply(*reducer, left.data(), cell.rows[URA_XDP_RESULT], bytes / reducer->size);
      std::memcpy(left.data(), cell.rows[URA_XDP_RESULT], bytes);
    }
  }
  __atomic_store_n(&cell.done, URA_XDP_DONE(number, right ? 1U : 0U), __ATOMIC_RELEASE);
}

std::uint32_t Cells::missing(std::uint32_t number, std::uint32_t form) const {
  const __u64 word = __atomic_load_n(&cell_of(number).word, __ATOMIC_RELAXED);
  return needs(form) & ~bit(rank_) & ~static_cast<std::uint32_t>(word);
}

bool Cells::take(std::uint32_t number, std::uint32_t form, std::byte* into) const {
  if (needs(form) == 0) return true;
  const ura_xdp_cell& cell = cell_of(number);
  if ((cell.done & 1U) == 0 || !agreed(cell, form)) return false;
  const bool bcast = URA_XDP_OPERATION(form) == URA_XDP_BCAST;
  const bool has_it = bcast && URA_XDP_ROOT(form) == rank_;  // the root's buffer may be read-only
  if (!has_it && into != nullptr) {
    const std::uint32_t row = bcast ? URA_XDP_ROOT(form) : std::uint32_t{URA_XDP_RESULT};
    std::memcpy(into, cell.rows[row], URA_XDP_BYTES_OF(form));
  }
  return true;
}

std::uint32_t Cells::lacking() const {
  std::uint32_t lack = receivers(oldest_form()) & ~left_ &
                       ~static_cast<std::uint32_t>(__atomic_load_n(&cell_of(oldest_).acknowledged, __ATOMIC_RELAXED));
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (is_before(oldest_, __atomic_load_n(&slot_.finished[other], __ATOMIC_RELAXED))) lack &= ~bit(other);
  }
  return lack;
}

bool Cells::free() {
  bool any = false;
  while (oldest_ended() && lacking() == 0) {
    ura_xdp_cell& cell = cell_of(oldest_);
    __atomic_store_n(&cell.acknowledged, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&cell.word, static_cast<__u64>(oldest_ + URA_XDP_CELLS) << 32U, __ATOMIC_RELEASE);
    ++oldest_;
    any = true;
  }
  return any;
}

}  // namespace urakata::xdp
