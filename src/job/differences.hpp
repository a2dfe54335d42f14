// SPDX-License-Identifier: BSD-3-Clause
// Which ranks have another value than rank 0, and in what, as a line to the user says it.
//
// Thread-safety: a function of its arguments; by any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace urakata::job {

// "ranks 1-3, 8: ALGORITHM and SEGMENT; rank 4: COSTS". `values` has a row for each rank, with a number for each name.
// Ranks that differ in the same names stand together, in the order of the lowest of each; beyond four such groups, and
// beyond four runs of ranks in one, it is told only how many ranks follow.
std::string differences(std::span<const std::string_view> names,
                        std::span<const std::span<const std::uint64_t>> values);

}  // namespace urakata::job
