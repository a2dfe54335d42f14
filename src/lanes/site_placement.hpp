// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a group are, as schedules between sites need it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace urakata::lanes {

using Rank = std::uint32_t;  // of the group
using Site = std::uint32_t;  // number of a site with ranks of the group, in the order of the sites' lowest ranks

// Constant, and the same on every rank of the group. Thread-safety: by any thread.
class Placement {
 public:
  // `sites`, `nodes`: by rank of the group, any number that stands for its site, and for its node.
  Placement(std::span<const std::int32_t> sites, std::span<const std::int32_t> nodes);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(site_.size()); }
  Site sites() const { return static_cast<Site>(members_.size()); }
  Site site_of(Rank rank) const { return site_[rank]; }
  std::span<const Rank> members(Site site) const { return members_[site]; }  // ascending
  std::uint32_t nodes(Site site) const { return static_cast<std::uint32_t>(leaders_[site].size()); }
  std::int32_t number(Site site) const { return numbers_[site]; }  // the site's number in the constructor's `sites`

  // The most nodes that a site has (P_max in model.hpp). With more lanes, lanes would share nodes at every site.
  std::uint32_t most_lanes() const;
  // The leader of a lane at a site. The lanes go to the nodes of the site in turn, and there to the lowest rank. If
  // `first` is at this site, its node comes first, and `first` itself is the leader there.
  Rank leader(Site site, std::uint32_t lane, Rank first) const;
  Rank leader(Site site, std::uint32_t lane) const;

  // Whether the ranks of each site are consecutive, so that the order of ranks is also that of sites.
  bool in_order() const { return in_order_; }

 private:
  std::vector<Site> site_;
  std::vector<std::int32_t> numbers_;
  std::vector<std::vector<Rank>> members_;
  std::vector<std::int32_t> nodes_;
  std::vector<std::vector<Rank>> leaders_;  // by site: the lowest rank of each node
  bool in_order_ = true;
};

}  // namespace urakata::lanes
