// SPDX-License-Identifier: BSD-3-Clause
// The commands that set, cut and query an emulated long link while it runs. Each command gets one answer.
//
//     stats                                 settings and counters of both directions; more, see answer()
//     set D NAME=VALUE...                   delay (ns), rate, flow-rate (bits a second; 0: no limit), queue, flow-queue
//                                           (bytes), loss (0 to 1), seed
//     cut D [FROM TO]                       drops all packets of the direction, or of its flows from FROM to TO
//     restore D [FROM TO]                   ends a cut
//     flow-rate D FROM TO RATE              rate of those flows, instead of the direction's flow-rate
//
// D is 0 (from the first end to the second) or 1. FROM and TO are any, ADDRESS or ADDRESS:PORT. The answer is a JSON
// object. Its `error` is empty, or says what is wrong with the command; the link is then unchanged. Not thread-safe.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "emulator/direction.hpp"

namespace urakata::emulator {

using Directions = std::array<Direction, 2>;

// Executes any command and returns the answer. For stats, `machine` adds what the model cannot know: it writes keys and
// values into the open JSON object.
std::string answer(Directions& directions, std::string_view command, const std::function<void(JsonWriter&)>& machine);

// Executes a command other than stats. Error: what is wrong with the command; the directions are then unchanged.
Status obey(Directions& directions, std::string_view command);

}  // namespace urakata::emulator
