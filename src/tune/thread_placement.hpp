// SPDX-License-Identifier: BSD-3-Clause
// Where a rank's progress thread runs.
//
// A function of its arguments, so it can be tested for machines that we do not have. Thread-safety: any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/options/options.hpp"
#include "base/topology.hpp"

namespace urakata::tune {

struct Placement {
  bool spare = false;  // whether it runs on a core that the rank does not need; else on the rank's own cores
  // Whether it also advances operations whose ranks are all on this node. On the program's own cores it would take as
  // long for their copies as the program does later, so it does so only if asked for
  // (docs/design/decisions/0025-progress-threads-need-a-core.md).
  bool within_node = true;
  bool oversubscribed = false;  // whether the ranks' threads outnumber the cores: no thread should spin
  bool crowded = false;         // whether node_ranks > node_cores; the same on all ranks of the node
  // The ranks of the node, and the cores of all their masks; 0: not known.
  std::size_t node_ranks = 0, node_cores = 0;
  CpuSet progress_thread;      // where the progress thread may run
  std::string reason;          // one sentence for `urakata check` and the report
  std::string refusal;         // why a wish was not granted; empty: it was, or there was none
  bool refused_spare = false;  // whether that wish was PLACEMENT spare: the job is not to run
};

// If PLACEMENT spare cannot be granted, or PROGRESS_CPUS is no list of CPUs of this node, the progress thread shares
// the rank's cores, and `refusal` says why.
Placement place_progress_threads(const Topology& topology, const NodeRanks& node_ranks, PlacementWish wish,
                                 std::string_view progress_cpus);

}  // namespace urakata::tune
