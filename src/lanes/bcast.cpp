// SPDX-License-Identifier: BSD-3-Clause
// Broadcast and allgather between sites: down trees that enter each site once.
#include <cstdint>
#include <vector>

#include "lanes/builders.hpp"
#include "lanes/shares.hpp"
#include "lanes/ways.hpp"

namespace urakata::lanes {

using collectives::kRecvBuffer;
using collectives::kSendBuffer;
using collectives::Partition;

// The share of a lane goes from the root to the lane's leader at the root's site, from that leader to the
// leaders of the other sites, and from each leader to all ranks of its site.
Built bcast(const Arguments& arguments, const Placement& placement, std::uint32_t lanes) {
  Plan plan("bcast/lanes", arguments);
  const Rank root = arguments.root;
  const Site home = placement.site_of(root);
  const Partition shares = Partition::even(arguments.bytes, arguments.element, lanes);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    Tree tree(arguments.ranks);
    const Rank departs = placement.leader(home, lane, root);
    if (departs != root) tree.add(root, departs);
    for (Site site = 0; site < placement.sites(); ++site) {
      if (site == home) continue;
      const Rank arrives = placement.leader(site, lane);
      tree.add(departs, arrives);
      tree.add_all(arrives, placement.members(site));
    }
    tree.add_all(departs, placement.members(home), root == departs ? Tree::kNobody : root);
    multicast(plan, placement, tree, shares.block(kRecvBuffer, lane), lane, {}, {});
  }
  return plan.commit();
}

// Each rank sends its block to all ranks of its site, and to the leaders whose shares contain the block.
// Those leaders send it to the leaders of the other sites, which send it to all ranks there.
Built allgather(const Arguments& arguments, const Placement& placement, std::uint32_t lanes, bool blocks_differ) {
  Plan plan(blocks_differ ? "allgatherv/lanes" : "allgather/lanes", arguments);
  const auto bytes_of = [&](Rank rank) { return blocks_differ ? arguments.recv.bytes[rank] : arguments.bytes; };
  const auto place_of = [&](Rank rank) {
    return blocks_differ ? arguments.recv.displacements[rank] : static_cast<std::int64_t>(rank * arguments.bytes);
  };
  const Rank me = arguments.rank;
  std::uint32_t step = 0;
  for (Site home = 0; home < placement.sites(); ++home) {
    for_each_part(placement.members(home), lanes, bytes_of,
                  [&](std::uint32_t lane, Rank rank, std::uint64_t offset, std::uint64_t bytes) {
                    Tree tree(arguments.ranks);
                    const Rank departs = placement.leader(home, lane);
                    for (Site site = 0; site < placement.sites(); ++site) {
                      if (site == home) continue;
                      const Rank arrives = placement.leader(site, lane);
                      tree.add(departs, arrives);
                      tree.add_all(arrives, placement.members(site));
                    }
                    tree.add_all(rank, placement.members(home), Tree::kNobody, departs);
                    const bool own = rank == me && !arguments.in_place;
                    const std::int64_t begin = own ? 0 : place_of(rank);
                    multicast(plan, placement, tree,
                              {.buffer = own ? kSendBuffer : kRecvBuffer,
                               .offset = begin + static_cast<std::int64_t>(offset),
                               .bytes = bytes},
                              step++, {}, {});
                  });
  }
  if (!arguments.in_place) {
    plan.copy({.buffer = kSendBuffer, .bytes = bytes_of(me)},
              {.buffer = kRecvBuffer, .offset = place_of(me), .bytes = bytes_of(me)});
  }
  return plan.commit();
}

}  // namespace urakata::lanes
