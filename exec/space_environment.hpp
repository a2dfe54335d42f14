// What hosts and the C library need in the environment of a task.
#pragma once

#include <string>
#include <vector>

namespace urakata {

// This process's environment with, unless the user has set them,
//   PMIX_MCA_gds      PMIx's own choice maps a segment at an address that is the same in every rank
//   MALLOC_*_THRESHOLD_   each unmapping interrupts all ranks of the space, so the C library is to keep what it has
//   PMIX_MCA_pmix_max_events   how many notifications each rank of PMIx may keep: 200 KiB a rank for the default of 512
// and, where the whole job is on this node, what keeps Open MPI from bringing up networks that nobody uses there and
// from stocking up on buffers for messages that we carry.
std::vector<std::string> space_environment();

// This process runs as an ordinary one, but others of its job may be in a space: PMIx wants to be told the same by all
// ranks of a job.
void suit_space();

}  // namespace urakata
