// SPDX-License-Identifier: BSD-3-Clause
// Which ranks have other values than rank 0, and of which names, as text for a line to the user.
//
// Thread-safety: a function of its arguments; by any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace urakata::job {

// "ranks 1-3, 8: ALGORITHM and SEGMENT; rank 4: COSTS"; empty: none differ. `values` has a row for each rank, with a
// number for each name. Ranks that differ in the same names form a group; groups are ordered by their lowest rank.
// After four groups, and after four runs of ranks in a group, the text only gives the number of further ranks.
std::string differences(std::span<const std::string_view> names,
                        std::span<const std::span<const std::uint64_t>> values);

}  // namespace urakata::job
