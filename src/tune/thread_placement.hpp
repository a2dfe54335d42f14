// SPDX-License-Identifier: BSD-3-Clause
// Where a rank's progress thread belongs.
//
// A function of its arguments, and so tested on machines that we lack.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/options/options.hpp"
#include "base/topology.hpp"

namespace urakata::tune {

struct Placement {
  bool spare = false;  // on a core that no rank needs; else beside the program, on the rank's own cores
  // For operations whose ranks are all on this node, too: beside the program a progress thread can only take as long
  // for copying as the program would later, so there it must have been asked for
  // (docs/design/decisions/0025-progress-threads-need-a-core.md).
  bool within_node = true;
  bool oversubscribed = false;  // the ranks' threads outnumber the cores: nobody should spin
  bool crowded = false;         // the node's ranks outnumber the cores of all their masks; the same on all of them
  // What that compares; 0: not known.
  std::size_t node_ranks = 0, node_cores = 0;
  CpuSet progress_thread;      // where it may run
  std::string reason;          // one sentence for `urakata check` and the report
  std::string refusal;         // why a wish was not granted; empty: it was, or there was none
  bool refused_spare = false;  // PLACEMENT spare was that wish: the job is not to run
};

// PLACEMENT spare that cannot be had is shared, with `refusal`; so is a PROGRESS_CPUS list with
// a CPU that the node does not have.
Placement place_progress_threads(const Topology& topology, const NodeRanks& node_ranks, PlacementWish wish,
                                 std::string_view progress_cpus);

}  // namespace urakata::tune
