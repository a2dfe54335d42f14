// SPDX-License-Identifier: BSD-3-Clause
// The sites of the job, as this process sees them.
#pragma once

#include <vector>

namespace urakata::shim {

// Of each rank of MPI_COMM_WORLD: is it at another site than this one? Empty: there is one site.
std::vector<bool> ranks_at_other_sites();

}  // namespace urakata::shim
