// SPDX-License-Identifier: BSD-3-Clause
// The text form of schedules: for people to read, and it reads back to the identical Schedule.
//
//     schedule allgather/ring ranks 2 rank 0 buffers 2 {
//       temp 4096                                       # buffer 2
//       node 0 copy 8 from buffer 0 at 0 to buffer 1 at 0
//       node 1 send 8 to rank 1 from buffer 1 at 0 after 0
//       node 2 recv 8 from rank 1 to buffer 1 at 8
//       node 3 recv 100 x 64 last 10 from rank 1 to buffer 2 at 0 stride 64 wrap 8 window 4 channel 1 each 4 distance 8
//       node 4 reduce 100 x 64 last 10 from buffer 2 at 0 stride 64 wrap 8 to buffer 1 at 16 stride 64 each 3
//     }
//
// A text holds any number of schedules, usually those of all ranks of a collective. One node a line, numbered from 0 in
// order; `#` begins a comment. "100 x 64 last 10" is 100 iterations of 64 bytes, the last of 10. `buffers` is how many
// are the caller's; each `temp` is a further buffer and its bytes. `reduce` has the left operand at `from`, the right
// one and the result at `to`. `after N` waits for all of node N, `each N distance D` iteration by iteration. A place
// without `stride` has its pieces one after another. A name with characters other than letters, digits and /._:- is
// quoted.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "schedule/schedule.hpp"

namespace urakata::schedule {

const char* word(Kind kind);  // "send"

std::string to_text(const Schedule& schedule);
std::string to_text(std::span<const Schedule> schedules);  // one after another, an empty line between
std::string to_text(const Node& node);                     // "send 8 to rank 1 from buffer 1 at 0"

// Work and memory are bounded by the text's length, whatever the numbers in it. The error begins with the line and,
// inside a node, the node: "line 4, node 1: buffer 7 does not exist; there are 3 (0..2)".
Result<std::vector<Schedule>> from_text(std::string_view text);

}  // namespace urakata::schedule
