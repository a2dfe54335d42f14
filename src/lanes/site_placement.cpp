// SPDX-License-Identifier: BSD-3-Clause
#include "lanes/site_placement.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace urakata::lanes {

Placement::Placement(std::span<const std::int32_t> sites, std::span<const std::int32_t> nodes)
    : nodes_(nodes.begin(), nodes.end()) {
  std::map<std::int32_t, Site> number;
  for (Rank rank = 0; rank < sites.size(); ++rank) {
    const auto [entry, added] = number.try_emplace(sites[rank], static_cast<Site>(number.size()));
    if (added) {
      numbers_.push_back(sites[rank]);
      members_.emplace_back();
      leaders_.emplace_back();
    }
    const Site site = entry->second;
    if (rank != 0 && site != site_.back() && !added) in_order_ = false;
    site_.push_back(site);
    members_[site].push_back(rank);
    std::vector<Rank>& one_of_each = leaders_[site];
    const bool new_node = std::ranges::none_of(one_of_each, [&](Rank other) { return nodes_[other] == nodes_[rank]; });
    if (new_node) one_of_each.push_back(rank);
  }
}

std::uint32_t Placement::most_lanes() const {
  std::size_t most = 1;
  for (const auto& one_of_each : leaders_) most = std::max(most, one_of_each.size());
  return static_cast<std::uint32_t>(most);
}

Rank Placement::leader(Site site, std::uint32_t lane) const {
  const std::vector<Rank>& all = leaders_[site];
  return all[lane % all.size()];
}

Rank Placement::leader(Site site, std::uint32_t lane, Rank first) const {
  if (site_[first] != site) return leader(site, lane);
  const std::vector<Rank>& all = leaders_[site];
  const auto at = static_cast<std::uint32_t>(
      std::ranges::find_if(all, [&](Rank other) { return nodes_[other] == nodes_[first]; }) - all.begin());
  if (lane % all.size() == 0) return first;
  return all[(at + lane) % all.size()];
}

}  // namespace urakata::lanes
