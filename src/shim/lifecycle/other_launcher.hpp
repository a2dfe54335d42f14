// SPDX-License-Identifier: BSD-3-Clause
// A launcher that cannot serve this MPI library: each of the ranks that it starts would be a job of its own.
#pragma once

#include "base/launcher.hpp"

namespace urakata::shim {

// Ends the process with exit code 2 if the launcher is known to be of no use to this MPI library. Rank 0 prints the
// reason; other ranks wait for that first. Call it before the MPI library's MPI_Init, which may abort with words of its
// own.
void refuse_other_launcher(const Launcher& started);

// Call it after the MPI library's MPI_Init, with the same `started`. Ends a rank in the same way if MPI_COMM_WORLD has
// size 1 although a launcher of another MPI (Open MPI's mpirun, or Hydra) started several ranks. If srun started them,
// rank 0 only warns: several jobs of one rank each may be meant.
void refuse_rank_left_alone(const Launcher& started, int world_size);

}  // namespace urakata::shim
