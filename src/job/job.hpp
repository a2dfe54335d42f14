// SPDX-License-Identifier: BSD-3-Clause
// The record of the job: what is known of every rank of MPI_COMM_WORLD, agreed once in MPI_Init, so that whatever is
// decided from it is the same on all ranks.
//
// A rank's own masks, options and abilities must decide nothing that its partners have to decide alike: they may
// differ. Each rank tells its own here, and all go by the record. Three kinds of facts (Agreement in
// base/options/options.hpp): those that are combined (crowded if any rank is; the smallest room in the tags; the MPI
// library performs all if it performs one's), those that must be equal (communicators with ranks that differ stay with
// the MPI library), and all others, which each rank has for itself and which are not here.
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
  bool engine = false;         // it has an engine; false: it leaves everything to the MPI library
  bool kernel = false;         // its engine is engine kernel
  std::int32_t contexts = 0;   // numbers that its tags have room for (transport/group.hpp)
  std::uint32_t identity = 0;  // drawn at random; rank 0's becomes the job's. Only its lowest 30 bits are used
  // Of each option that must be equal a number for its value, in the order of the table.
  std::vector<std::uint64_t> options;
};
// As the options in force say; `contexts` is for the caller to fill in.
Facts own_facts();

class Job {
 public:
  using Ranks = std::span<const std::int32_t>;  // of MPI_COMM_WORLD

  // Collective. False: all is the MPI library's, on every rank alike. Where ranks differ one of them says so.
  bool agree(Bootstrap& bootstrap, const Facts& own);
  // Collective. Who is on which node: `leader` is the lowest rank on this one. `node_ranks` learns of its ranks' masks.
  bool meet(Bootstrap& bootstrap, std::int32_t leader, NodeRanks& node_ranks);
  // Collective. Do this node's ranks outnumber their cores, as far as this rank can see?
  bool note_crowded(Bootstrap& bootstrap, bool crowded);

  bool all_kernel() const { return all_kernel_; }      // every rank has engine kernel
  std::int32_t contexts() const { return contexts_; }  // of the rank with the least room
  // Tells this job's files from another job's in the same folder; also where all is the MPI library's. 0: not agreed
  // on.
  std::uint32_t identity() const { return identity_; }
  bool alike(Ranks ranks) const;  // equal in all that must be

  std::span<const std::int32_t> nodes() const { return nodes_; }  // of each rank: the lowest rank on its node
  bool same_node(Ranks ranks) const;                              // all on one
  bool nodes_apart(Ranks ranks) const;                            // each on its own
  std::uint32_t ranks_per_node(Ranks ranks) const;                // as Group::ranks_per_node
  bool crowded(Ranks ranks) const;                                // ranks of a node of theirs outnumber its cores

 private:
  std::int32_t contexts_ = 0;
  std::uint32_t identity_ = 0;
  bool all_kernel_ = true;
  std::vector<std::int32_t> kinds_;  // of each rank: the lowest rank with equal options; empty: all are equal
  std::vector<std::int32_t> nodes_;
  std::vector<bool> crowded_;  // of each rank
};

}  // namespace urakata::job
