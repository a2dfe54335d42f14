// SPDX-License-Identifier: BSD-3-Clause
// What tells the nodes of reports apart.
#pragma once

#include <cstdint>
#include <string>

namespace urakata::observe {

std::string host_name();

// What is to be added to CLOCK_MONOTONIC, in ns, to get the time of day: by which ranks on different nodes are laid
// side by side. Too little where the process is stopped between the two readings.
std::int64_t realtime_minus_monotonic_ns();

// Processes with the same one have the same CLOCK_MONOTONIC; empty: not known.
std::string clock_name();

}  // namespace urakata::observe
