// SPDX-License-Identifier: BSD-3-Clause
// The words by which a long link is set, cut and asked while it runs: one command, one answer.
//
//     stats                                 everything, as JSON
//     set D NAME=VALUE...                   delay (ns), rate, flow-rate (bits a second; 0: no limit), queue, flow-queue
//                                           (bytes), loss (0 to 1), seed
//     cut D [FROM TO]                       the direction, or those flows of it
//     restore D [FROM TO]
//     flow-rate D FROM TO RATE              of these flows, instead of the direction's flow-rate
//
// D is 0 (from the first end to the second) or 1. FROM and TO are any, ADDRESS or ADDRESS:PORT. The answer is a JSON
// object; its `error` is empty or says what is wrong with the command, of which nothing was done then. Not thread-safe.
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

// `machine` adds to the answer of stats what the model cannot know: keys and values of an open object.
std::string answer(Directions& directions, std::string_view command, const std::function<void(JsonWriter&)>& machine);

// Does it, or says what is wrong with it; no stats.
Status obey(Directions& directions, std::string_view command);

}  // namespace urakata::emulator
