// SPDX-License-Identifier: BSD-3-Clause
// What several ranks have to say is said once: who says it, and of how many nodes it is true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job/bootstrap.hpp"

namespace urakata::job {

// Lines are the same if they are alike but for numbers: CPUs differ from rank to rank.
bool same_line(std::string_view one, std::string_view other);

struct SharedLines {
  bool any = false;       // some rank has a line
  std::size_t first = 0;  // the lowest that has, if any
  // What this rank is to say: of each line the lowest rank that has it. Where there are several nodes it ends with
  // "(on 3 of 4 nodes)".
  std::vector<std::string> here;
};

// Collective. `own`: what this rank has to say; more than four lines are cut. `nodes`: as Job::nodes(). Where the MPI
// library refuses each rank is to say its own.
SharedLines share_lines(Bootstrap& bootstrap, std::span<const std::int32_t> nodes, std::span<const std::string> own);

}  // namespace urakata::job
