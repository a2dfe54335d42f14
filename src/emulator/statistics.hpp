// SPDX-License-Identifier: BSD-3-Clause
// The settings and counters of a direction as JSON.
#pragma once

#include "base/json.hpp"
#include "emulator/direction.hpp"

namespace urakata::emulator {

// Writes one object: settings, counters, runs of lost segments, and the kMostFlows flows with the most bytes offered.
inline constexpr std::size_t kMostFlows = 500;
void write_statistics(JsonWriter& json, const Direction& direction);

}  // namespace urakata::emulator
