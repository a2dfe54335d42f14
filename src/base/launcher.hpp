// SPDX-License-Identifier: BSD-3-Clause
// What the launcher says of this process before MPI_Init: its rank and how many ranks share the node.
//
// Read from the environment (Open MPI, PRRTE, MPICH's Hydra, Intel MPI, Slurm, others that set PMI's or PMIx's
// variables). -1: the launcher does not tell.
#pragma once

namespace urakata {

struct Launcher {
  const char* name = "";  // "Open MPI", "Hydra", "Slurm", "PMI", "PMIx"; empty: none was recognised
  int rank = -1;          // in MPI_COMM_WORLD
  int ranks = -1;         // size of MPI_COMM_WORLD
  int local_rank = -1;    // among the ranks of this node
  int local_ranks = -1;   // number of ranks on this node; with Slurm on the job step's first node
};

// Looks at the environment each time; allocates nothing.
Launcher launcher();

}  // namespace urakata
