// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a group are, as schedules between sites need it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace urakata::lanes {

using Rank = std::uint32_t;  // of the group
using Site = std::uint32_t;  // of those that the group has ranks at, in the order of their lowest ranks

// The same on every rank of the group.
class Placement {
 public:
  // Of each rank of the group: a number for its site, and one for its node.
  Placement(std::span<const std::int32_t> sites, std::span<const std::int32_t> nodes);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(site_.size()); }
  Site sites() const { return static_cast<Site>(members_.size()); }
  Site site_of(Rank rank) const { return site_[rank]; }
  std::span<const Rank> members(Site site) const { return members_[site]; }  // ascending
  std::uint32_t nodes(Site site) const { return static_cast<std::uint32_t>(leaders_[site].size()); }
  std::int32_t number(Site site) const { return numbers_[site]; }  // as the constructor was given it

  // The most nodes that a site has: more lanes than that would share nodes (systems of the paper: P_max).
  std::uint32_t most_lanes() const;
  // Who of a site has lane `lane`: a rank on each node in turn, its lowest. `first`, where it is of this site, stands
  // for its node and has lane 0.
  Rank leader(Site site, std::uint32_t lane, Rank first) const;
  Rank leader(Site site, std::uint32_t lane) const;

  // Are the ranks of each site neighbours, so that their order is that of the sites?
  bool in_order() const { return in_order_; }

 private:
  std::vector<Site> site_;
  std::vector<std::int32_t> numbers_;
  std::vector<std::vector<Rank>> members_;
  std::vector<std::int32_t> nodes_;
  std::vector<std::vector<Rank>> leaders_;  // of each site: the lowest rank of each node
  bool in_order_ = true;
};

}  // namespace urakata::lanes
