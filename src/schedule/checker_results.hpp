// SPDX-License-Identifier: BSD-3-Clause
// What the ranks hold at the end of the checker's symbolic run, against what they must.
#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "schedule/checker.hpp"
#include "schedule/checker_values.hpp"

namespace urakata::schedule {

// contents[rank][buffer] at the end. The error names the first byte that is wrong.
Status check_results(std::span<const Schedule> schedules, const Expectation& expectation, Terms& terms,
                     std::span<const std::vector<Contents>> contents);

}  // namespace urakata::schedule
