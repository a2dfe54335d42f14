// The node's cores as hwloc sees them. The only place that knows hwloc.
#pragma once

#include "base/result.hpp"
#include "base/topology.hpp"

namespace urakata {

// Takes some milliseconds: hwloc reads /sys. HWLOC_SYNTHETIC gives another machine's, for trials.
Result<Topology> find_cores();

}  // namespace urakata
