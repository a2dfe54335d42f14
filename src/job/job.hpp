// SPDX-License-Identifier: BSD-3-Clause
// The record of the job: what is known of every rank of MPI_COMM_WORLD, exchanged once in MPI_Init. Whatever is decided
// from the record is the same on all ranks.
//
// A rank's own masks, options and abilities may differ from those of its partners. So they must decide nothing that the
// partners have to decide alike. Each rank tells its own here, and all ranks decide from the record. There are three
// kinds of facts (Agreement in base/options/options.hpp). Some are combined: crowded if any rank is; the smallest room
// in the tags; everything is left to the MPI library if one rank has no engine. Others must be equal: the collectives
// of communicators whose ranks differ fall back. The rest each rank has for itself; it is not here.
//
// Thread-safety: agree(), meet() and note_crowded() by the thread that calls MPI_Init; constant afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/topology.hpp"
#include "job/bootstrap.hpp"

namespace urakata::job {

// What a rank says of itself.
struct Facts {
  bool engine = false;         // whether it has an engine; false: it leaves everything to the MPI library
  bool kernel = false;         // whether option ENGINE is kernel
  std::int32_t contexts = 0;   // number of contexts that its tags have room for (transport/group.hpp)
  std::uint32_t identity = 0;  // drawn at random; rank 0's becomes the job's. Only its lowest 30 bits are used
  // A hash of the value of each option that must be equal, in the order of the option table.
  std::vector<std::uint64_t> options;
};
// This rank's facts, from its options, with a new identity. The caller fills in `contexts`.
Facts own_facts();

class Job {
 public:
  using Ranks = std::span<const std::int32_t>;  // of MPI_COMM_WORLD

  // agree(), meet(), note_crowded(): collective, in this order. Each returns false if the MPI library reports an error.

  // Combines and compares the facts of all ranks. If ranks differ, one of them logs a warning. False, on every rank
  // alike, also if a rank has no engine: everything is left to the MPI library.
  bool agree(Bootstrap& bootstrap, const Facts& own);
  // Learns which rank is on which node. `leader`: the lowest rank on this node. `node_ranks` has this rank's mask, and
  // gets rank, ranks and masks of the node.
  bool meet(Bootstrap& bootstrap, std::int32_t leader, NodeRanks& node_ranks);
  // `crowded`: whether this node's ranks outnumber their cores, as far as this rank can see.
  bool note_crowded(Bootstrap& bootstrap, bool crowded);

  bool all_kernel() const { return all_kernel_; }      // whether option ENGINE is kernel on every rank
  std::int32_t contexts() const { return contexts_; }  // of the rank with the least room
  // A number that tells this job's files from another job's in the same folder. Also set if agree() found a rank
  // without an engine. 0: not agreed on.
  std::uint32_t identity() const { return identity_; }
  bool alike(Ranks ranks) const;  // whether the ranks agree in all options that must be equal

  std::span<const std::int32_t> nodes() const { return nodes_; }  // of each rank: the lowest rank on its node
  bool same_node(Ranks ranks) const;                              // whether all are on one node
  bool nodes_apart(Ranks ranks) const;                            // whether each is on a node of its own
  std::uint32_t ranks_per_node(Ranks ranks) const;                // as Group::ranks_per_node
  bool crowded(Ranks ranks) const;                                // whether one is on a node with more ranks than cores

 private:
  std::int32_t contexts_ = 0;
  std::uint32_t identity_ = 0;
  bool all_kernel_ = true;
  std::vector<std::int32_t> kinds_;  // of each rank: the lowest rank with equal options; empty: all are equal
  std::vector<std::int32_t> nodes_;
  std::vector<bool> crowded_;  // of each rank: whether its node has more ranks than cores
};

}  // namespace urakata::job
