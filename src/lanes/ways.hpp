// SPDX-License-Identifier: BSD-3-Clause
// What schedules between sites are made of: streams of segments along a chain of ranks, or down a tree of them.
//
// All ranks of a group call these in the same order with the same arguments but for the pieces, which are each rank's
// own places. Steps number the streams, so that no two between the same ranks wait for each other.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives/partition.hpp"
#include "collectives/plan.hpp"
#include "lanes/site_placement.hpp"

namespace urakata::lanes {

using collectives::Nodes;
using collectives::Piece;
using collectives::Plan;

// From the first rank of the way to the last; a rank that stands twice in a row counts once. `source`: where the first
// has it; `target`: where the last wants it. Others need neither. Returns, on the first rank, the nodes that send it,
// on the last those after which it has it.
Nodes carry(Plan& plan, std::span<const Rank> way, Piece source, Piece target, std::uint32_t step);

// What stays inside a site, `near`, yields to what crosses where both share a node's own link: of streams that are cut
// alike it goes, or is received, chunk by chunk when as much has crossed (is sent, or has come). So both come to their
// end together; else connections inside, which are fast at once, take most of that link as long as they have something.
// What is one message waits for nothing.
void pace(Plan& plan, const Nodes& crossing, const Nodes& near);

// A tree of ranks of the group.
class Tree {
 public:
  explicit Tree(std::uint32_t ranks) : parent_(ranks, kNobody), children_(ranks) {}
  static constexpr Rank kNobody = ~Rank{0};

  void add(Rank parent, Rank child) {
    parent_[child] = parent;
    children_[parent].push_back(child);
  }
  // `first` hands on to the others of `ranks` but for `without`, down a binomial tree; `second`, if it is one of them,
  // has it from `first` itself.
  void add_all(Rank first, std::span<const Rank> ranks, Rank without = kNobody, Rank second = kNobody);

  Rank parent(Rank rank) const { return parent_[rank]; }
  std::span<const Rank> children(Rank rank) const { return children_[rank]; }

 private:
  std::vector<Rank> parent_;
  std::vector<std::vector<Rank>> children_;
};

// Down the tree, to `piece` on each rank. On the root it is read from there once `ready`; elsewhere it is written once
// `free`. Of a rank's children those at other sites must have been added first: they set the pace. Returns the nodes
// after which a rank has it.
Nodes multicast(Plan& plan, const Placement& placement, const Tree& tree, Piece piece, std::uint32_t step,
                const Nodes& ready, const Nodes& free);

// The partial results of sites, of which this rank has one (`own`, site `site`) and gets the others from `peers`, one
// of each site: combined in the order of sites and put into `result`. `sent`: nodes that read `own` for others.
struct Partial {
  Site site = 0;
  Piece own;
  Nodes ready;  // of `own`
  Nodes sent;
  bool whole = false;  // these nodes work on more than `own`, so they are waited for to their end
};
Nodes combine(Plan& plan, std::span<const Rank> peers, const Partial& partial, Piece result, std::uint32_t step);

}  // namespace urakata::lanes
