// SPDX-License-Identifier: BSD-3-Clause
// What the schedules of a collective must do: the meaning of each operation, for the checker.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/collectives.hpp"
#include "schedule/checker.hpp"

namespace urakata::collectives {

// of_ranks[r] is what rank r calls with, for all ranks of the group. Bytes of the receive buffer that the operation
// does not define must be as before, the send buffer unchanged.
schedule::Expectation expectation(Operation operation, std::span<const Arguments> of_ranks);

// The arguments of all ranks from one rank's, for who has no program to take them from. The v-forms get blocks of
// `bytes` one after another, or, if `uneven`, of 0, 1/2, 1 and 3/2 times that with gaps between them. Neighbours are
// ranks 0, 1 and 2 ahead, one of them twice.
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
