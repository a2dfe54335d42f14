// SPDX-License-Identifier: BSD-3-Clause
// The node's cores, and the ranks that share them.
//
// hwloc lives in urakata-exec alone, which hands its findings on as text (kCoresVariable), so that the preloaded
// library needs no library of its own. Everything here is a function of its arguments, and so tested on machines that
// we lack.
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
  unsigned node = 0;  // the memory it is near to
};

// The cores of the node in the order of hwloc's logical numbers: neighbours in the list are near to each other.
struct Topology {
  std::vector<Core> cores;

  // "0,4/1,5|2,6/3,7": cores separated by '/', memory nodes by '|'.
  static Result<Topology> from_text(std::string_view text);
  // What urakata-exec found; without it, every CPU that the process may use counts as a core.
  static Topology of_this_node();

  std::string text() const;
  CpuSet cpus() const;                                 // all hardware threads
  std::vector<Core> within(const CpuSet& mask) const;  // the cores with a hardware thread in the mask
};

// What the masks of all ranks of a node come to for one of them; not their sets, which would be memory that the heap
// keeps.
struct Masks {
  std::size_t alike = 0;    // ranks with this one's mask, itself included
  std::size_t before = 0;   // of these, ranks before this one
  std::size_t meeting = 0;  // ranks whose mask meets this one's, itself included
  CpuSet different;         // where the others may run whose mask is not this one's
  CpuSet together;          // where all that meet it may run
};

// What is known of the ranks of the node.
struct NodeRanks {
  std::size_t rank = 0;  // this one, among the ranks of the node
  std::size_t ranks = 1;
  CpuSet mask;              // where this rank may run
  std::size_t threads = 1;  // runnable threads of each rank, without progress threads

  // Where they are not known, all are taken to have as many cores as this one's and to lie evenly over the node.
  std::optional<Masks> masks = std::nullopt;
  // One of the node's ranks, of all of them, has this mask.
  void note(std::size_t which, const CpuSet& its);
};

// Threads that a rank computes with: OMP_NUM_THREADS, or 1.
std::size_t program_threads();
// The ranks of this node as the launcher's environment and this process's mask describe them: the others' masks are not
// known.
NodeRanks ranks_of_this_node();

}  // namespace urakata
