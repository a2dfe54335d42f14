// SPDX-License-Identifier: BSD-3-Clause
// A text that rank 0 has, for all ranks: what it has read may not be there on other nodes, or say something else.
#pragma once

#include <string>

#include "base/result.hpp"
#include "job/bootstrap.hpp"

namespace urakata::job {

// Collective. `own`: rank 0's; not looked at on other ranks. The same on each rank, the error too.
Result<std::string> text_of_rank_0(Bootstrap& world, const Result<std::string>& own);

}  // namespace urakata::job
