// What hosts and the C library need in the environment of a task.
#pragma once

#include <string>
#include <vector>

namespace urakata {

// This process's environment with, unless the user has set them, PMIX_MCA_gds (PMIx's own choice maps a segment at an
// address that is the same in every rank) and GLIBC_TUNABLES (each unmapping interrupts all ranks of the space, so the
// C library is to keep what it has).
std::vector<std::string> space_environment();

// This process runs as an ordinary one, but others of its job may be in a space: PMIx wants to be told the same by all
// ranks of a job.
void suit_space();

}  // namespace urakata
