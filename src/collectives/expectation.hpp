// SPDX-License-Identifier: BSD-3-Clause
// What the schedules of a collective must do: the result of each operation, for the checker.
//
// Thread-safety: functions by any thread; an ArgumentsOfAll by one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/collectives.hpp"
#include "schedule/checker.hpp"

namespace urakata::collectives {

// of_ranks[r] has the arguments of rank r, for all ranks of the group. The schedules must not change the send buffer,
// nor bytes of the receive buffer that are no part of the result.
schedule::Expectation expectation(Operation operation, std::span<const Arguments> of_ranks);

// The arguments of all ranks made from one rank's, for tests and tools that have no program. The v-forms get blocks of
// `bytes` one after another, or, if `uneven`, blocks of 0, 1/2, 1 and 3/2 times `bytes` with gaps between them. The
// neighbours of a rank are the ranks 0, 1 and 2 ahead, that 1 ahead twice, and MPI_PROC_NULL.
class ArgumentsOfAll {
 public:
  ArgumentsOfAll(Operation operation, const Arguments& common, bool uneven = false);
  ArgumentsOfAll(ArgumentsOfAll&&) = default;
  std::span<const Arguments> ranks() const { return ranks_; }

 private:
  struct Storage {
    std::vector<std::uint64_t> bytes;
    std::vector<std::int64_t> displacements;
  };
  void neighbours(const Arguments& common, bool uneven);

  std::vector<Storage> send_, recv_;
  std::vector<std::vector<std::uint32_t>> destinations_, sources_;
  std::vector<Arguments> ranks_;
};

bool is_reduction(Operation operation);
bool may_be_in_place(Operation operation);

}  // namespace urakata::collectives
