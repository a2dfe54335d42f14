// SPDX-License-Identifier: BSD-3-Clause
// What schedules between sites consist of: streams of segments along a chain of ranks, or down a tree of ranks.
//
// All ranks of a group call these functions in the same order and with the same arguments, except for pieces and nodes,
// which are each rank's own. `step` numbers the streams, so that no two streams between the same ranks wait for each
// other.
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

// Carries a stream from the first rank of the way to the last. A rank that is named twice in a row counts once.
// `source`: where the first rank has the payload; the ranks in between use its length. `target`: where the last rank
// wants the payload. Returns the nodes that send on the first rank, and those that receive on the last (or copy, if it
// is the first, too); none on other ranks.
Nodes carry(Plan& plan, std::span<const Rank> way, Piece source, Piece target, std::uint32_t step);

// Makes a stream inside a site (`near`) yield to one that crosses, if both use a node's own link. Each chunk of `near`
// waits until the same chunk of `crossing` has been sent, or has come. So both streams end together. Otherwise the
// connections inside the site, which are fast at once, would take most of the node's link. Streams of one chunk, or of
// different numbers of chunks, do not wait.
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
  // Adds a binomial tree from `first` to all other ranks of `ranks` except `without`. `second`, if given, becomes a
  // child of `first` itself.
  void add_all(Rank first, std::span<const Rank> ranks, Rank without = kNobody, Rank second = kNobody);

  Rank parent(Rank rank) const { return parent_[rank]; }  // kNobody: none
  std::span<const Rank> children(Rank rank) const { return children_[rank]; }

 private:
  std::vector<Rank> parent_;
  std::vector<std::vector<Rank>> children_;
};

// Sends the payload of the root's `piece` down the tree, to `piece` on each rank. The root reads its piece after the
// nodes `ready`; the other ranks write theirs after the nodes `free`. A rank's children at other sites must have been
// added before those at its own, since they set the pace. Returns the nodes after which this rank has the payload.
Nodes multicast(Plan& plan, const Placement& placement, const Tree& tree, Piece piece, std::uint32_t step,
                const Nodes& ready, const Nodes& free);

// The partial result of this rank's site.
struct Partial {
  Site site = 0;
  Piece own;           // where the partial result is; may be overwritten
  Nodes ready;         // nodes that write `own`
  Nodes sent;          // nodes that read `own` to send it
  bool whole = false;  // whether these nodes work on more than `own`, so that all their iterations must end first
};
// Combines the partial results of all sites in the order of sites, and puts the result into `result`. `peers`: by site,
// the rank that sends the site's partial result. Returns the nodes after which the result is there.
Nodes combine(Plan& plan, std::span<const Rank> peers, const Partial& partial, Piece result, std::uint32_t step);

}  // namespace urakata::lanes
