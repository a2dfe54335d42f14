// SPDX-License-Identifier: BSD-3-Clause
// Draws the schedules of all ranks as one SVG: a lane for each rank, time downwards, a box for each node, grey curves
// for a rank's edges, coloured arrows for messages.
#pragma once

#include <span>
#include <string>

#include "schedule/checker.hpp"

namespace urakata::schedule {

// `proof` is check()'s answer for the same schedules: it says when each node can start and which messages meet.
std::string draw(std::span<const Schedule> schedules, const Proof& proof);

}  // namespace urakata::schedule
