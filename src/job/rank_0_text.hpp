// SPDX-License-Identifier: BSD-3-Clause
// A text that rank 0 has read, given to all ranks: its file may be missing on other nodes, or have other content there.
#pragma once

#include <string>

#include "base/result.hpp"
#include "job/bootstrap.hpp"

namespace urakata::job {

// Collective. `own`: rank 0's text or error; ignored on other ranks. Returns rank 0's on each rank. Error also if the
// MPI library reports one.
Result<std::string> text_of_rank_0(Bootstrap& world, const Result<std::string>& own);

}  // namespace urakata::job
