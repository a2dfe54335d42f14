// SPDX-License-Identifier: BSD-3-Clause
// What a report tells of its node, so that readers can tell nodes apart and align their clocks.
#pragma once

#include <cstdint>
#include <string>

namespace urakata::observe {

std::string host_name();

// CLOCK_REALTIME minus CLOCK_MONOTONIC, in ns: readers align ranks on different nodes by the time of day. The result is
// too small if the process is stopped between the readings of the two clocks.
std::int64_t realtime_minus_monotonic_ns();

// Processes with equal names share one CLOCK_MONOTONIC. Empty: not known.
std::string clock_name();

}  // namespace urakata::observe
