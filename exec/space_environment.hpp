// SPDX-License-Identifier: BSD-3-Clause
// The variables that MPI libraries and the C library need in the environment of a task.
#pragma once

#include <string>
#include <vector>

namespace urakata {

// Returns this process's environment, without space::kJobVariable and with these variables. Variables that the user has
// set stay as they are; MALLOC_* are not added if GLIBC_TUNABLES is set:
//   PMIX_MCA_gds               PMIx's default maps a segment at an address that is the same in every rank
//   MALLOC_*_THRESHOLD_        the C library keeps its memory, since each unmapping interrupts all ranks of the space
//   PMIX_MCA_pmix_max_events   number of notifications that PMIx keeps: the default of 512 costs 200 KiB in each rank
// If the whole job is on this node, further variables keep Open MPI from opening networks that are not used there, and
// from allocating buffers for messages that Urakata transports.
std::vector<std::string> space_environment();

// Sets PMIX_MCA_gds for a process that runs outside the space. Others of its job may be in one, and PMIx wants the same
// setting in all ranks of a job.
void suit_space();

}  // namespace urakata
