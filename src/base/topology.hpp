// SPDX-License-Identifier: BSD-3-Clause
// The node's cores, and the ranks that share them.
//
// The preloaded library links no hwloc: urakata-exec passes the topology on as text in the environment (kCoresVariable
// of base/options/options.hpp). Functions whose name has `of_this_node`, and program_threads(), read this process's
// environment and affinity mask; all others depend on their arguments only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_set.hpp"
#include "base/result.hpp"

namespace urakata {

struct Core {
  CpuSet cpus;        // its hardware threads
  unsigned node = 0;  // its NUMA node, counted from 0
};

// The cores of the node in the order of hwloc's logical numbers: neighbours in the list are near to each other.
struct Topology {
  std::vector<Core> cores;

  // `text` as in "0,4/1,5|2,6/3,7": cores separated by '/', NUMA nodes by '|'. Error: what is wrong with the text.
  static Result<Topology> from_text(std::string_view text);
  // The topology from urakata-exec. Without a valid one, each CPU that this process may use counts as a core.
  static Topology of_this_node();

  std::string text() const;
  CpuSet cpus() const;                                 // all hardware threads
  std::vector<Core> within(const CpuSet& mask) const;  // cores that meet the mask, with their threads in it
};

// A summary, for this rank, of the affinity masks of all ranks of its node. It takes less memory than the masks.
struct Masks {
  std::size_t alike = 0;    // number of ranks with the same mask as this rank, itself included
  std::size_t before = 0;   // number of these ranks before this rank
  std::size_t meeting = 0;  // number of ranks whose mask meets this rank's, itself included
  CpuSet different;         // union of the masks that are not equal to this rank's
  CpuSet together;          // union of the masks that meet this rank's
};

// What is known of the ranks of the node.
struct NodeRanks {
  std::size_t rank = 0;     // this rank's number among the ranks of the node
  std::size_t ranks = 1;    // number of ranks of the node
  CpuSet mask;              // this rank's affinity mask
  std::size_t threads = 1;  // runnable threads of each rank, without progress threads

  // nullopt: the other ranks' masks are not known. Each is then taken to have as many cores as this rank's, and all to
  // lie evenly over the node.
  std::optional<Masks> masks = std::nullopt;
  // Adds the mask of the node's rank `which` to `masks`. To be called once for each rank of the node, this one too.
  void note(std::size_t which, const CpuSet& its);
};

// Number of threads that a rank computes with: OMP_NUM_THREADS, or 1.
std::size_t program_threads();
// The ranks of this node by the launcher's environment and this process's affinity mask, without `masks`.
NodeRanks ranks_of_this_node();

}  // namespace urakata
