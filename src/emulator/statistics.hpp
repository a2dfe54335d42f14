// SPDX-License-Identifier: BSD-3-Clause
// What a direction has carried and how it is set, as JSON.
#pragma once

#include "base/json.hpp"
#include "emulator/direction.hpp"

namespace urakata::emulator {

// One object: settings, counters, runs of lost segments, and the flows (at most the kMostFlows with the most bytes).
inline constexpr std::size_t kMostFlows = 500;
void write_statistics(JsonWriter& json, const Direction& direction);

}  // namespace urakata::emulator
