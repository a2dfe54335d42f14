// SPDX-License-Identifier: BSD-3-Clause
// The node's cores as hwloc sees them. No other file uses hwloc.
#pragma once

#include "base/result.hpp"
#include "base/topology.hpp"

namespace urakata {

// Reads the node's topology. Takes some milliseconds, since hwloc reads /sys. HWLOC_SYNTHETIC simulates another
// machine.
Result<Topology> find_cores();

}  // namespace urakata
