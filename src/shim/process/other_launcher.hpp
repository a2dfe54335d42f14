// SPDX-License-Identifier: BSD-3-Clause
// A launcher that cannot serve this MPI library: each of the ranks that it starts would be a job of its own.
#pragma once

#include "base/launcher.hpp"

namespace urakata::shim {

// Ends the process with exit code 2 and one line if the launcher is known to be of no use to this MPI library. Call it
// before the MPI library's MPI_Init, which may abort with words of its own.
void refuse_other_launcher(const Launcher& started);

// After the MPI library's MPI_Init, with the same `started`: ends a rank that another family's launcher has left alone
// (exit code 2). Of ranks that srun has left alone it warns only: several jobs of one rank each may be meant.
void refuse_rank_left_alone(const Launcher& started, int world_size);

}  // namespace urakata::shim
