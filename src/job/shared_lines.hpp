// SPDX-License-Identifier: BSD-3-Clause
// Lines to the user that several ranks have are logged once: by which rank, and for how many nodes each line holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job/bootstrap.hpp"

namespace urakata::job {

// Whether two lines are equal except for numbers: CPU numbers differ from rank to rank.
bool same_line(std::string_view one, std::string_view other);

struct SharedLines {
  bool any = false;       // whether some rank has a line
  std::size_t first = 0;  // the lowest rank that has a line, if any has
  // The lines that this rank is to log: those for which it is the lowest rank. If there are several nodes, each ends
  // with "(on 3 of 4 nodes)".
  std::vector<std::string> here;
};

// Collective. `own`: this rank's lines, of which the first four count. `nodes`: as Job::nodes(). If the MPI library
// reports an error, each rank is to log its own lines.
SharedLines share_lines(Bootstrap& bootstrap, std::span<const std::int32_t> nodes, std::span<const std::string> own);

}  // namespace urakata::job
