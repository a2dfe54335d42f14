// SPDX-License-Identifier: BSD-3-Clause
#include "shim/process/space.hpp"

#include <algorithm>

#include "shim/process/job_setup.hpp"
#include "shim/process/process_state.hpp"

namespace urakata::shim {

constinit p2p::Endpoint* own_endpoint = nullptr;
constinit transport::WireLink* own_link = nullptr;
constinit PeriodicProgress* periodic = nullptr;
constinit int tag_limit = 0;

RankWays& rank_ways() {
  static auto* all = new RankWays;
  return *all;
}

p2p::Port* port_of(int world_rank) { return rank_ways().ports[static_cast<std::size_t>(world_rank)]; }

p2p::LinkPeer link_to(int world_rank) {
  const bool reached = link() != nullptr && rank_ways().links[static_cast<std::size_t>(world_rank)] &&
                       job_setup().transports().by_wire(process_state.world_rank, world_rank);
  return reached ? p2p::LinkPeer{world_rank} : p2p::kNoPeer;
}

std::size_t ranks_in_space() {
  const std::vector<std::uint64_t>& spaces = rank_ways().spaces;
  const auto own = static_cast<std::size_t>(process_state.world_rank);
  if (own >= spaces.size() || spaces[own] == 0) return 0;
  return static_cast<std::size_t>(std::count(spaces.begin(), spaces.end(), spaces[own]));
}

bool endpoints_in_job() {
  const auto& [ports, spaces, links] = rank_ways();
  return std::any_of(spaces.begin(), spaces.end(), [](std::uint64_t space) { return space != 0; }) ||
         std::find(links.begin(), links.end(), true) != links.end();
}

}  // namespace urakata::shim
