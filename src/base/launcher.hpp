// SPDX-License-Identifier: BSD-3-Clause
// What the launcher says of this process before MPI_Init: its rank and how many ranks share the node.
//
// Read from the environment (Open MPI, PRRTE, MPICH's Hydra, Intel MPI, Slurm); -1 where the launcher does not say.
#pragma once

namespace urakata {

struct Launcher {
  const char* name = "";  // "Open MPI", "Hydra", "Slurm"; empty: none was recognised
  int rank = -1;
  int ranks = -1;
  int local_rank = -1;   // among the ranks of this node
  int local_ranks = -1;  // how many ranks this node has
};

// Looks at the environment each time; allocates nothing.
Launcher launcher();

}  // namespace urakata
