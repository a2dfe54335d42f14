// SPDX-License-Identifier: BSD-3-Clause
// Barrier between sites. The first leader of each site waits for all ranks of its site, then notifies the
// first leaders of the other sites. It releases the ranks of its site once all other leaders have notified
// it. The barrier takes one delay of the link, wherever ranks are placed.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lanes/builders.hpp"
#include "lanes/ways.hpp"
#include "schedule/builder.hpp"

namespace urakata::lanes {

namespace {

enum Channel : std::uint8_t { kUp, kAcross, kDown };

}  // namespace

Built barrier(const Arguments& arguments, const Placement& placement) {
  const Rank me = arguments.rank;
  const Site site = placement.site_of(me);
  schedule::Builder builder("barrier/lanes", arguments.ranks, me);
  const auto tell = [&](Rank rank, Channel channel) {
    return builder.send(rank, {.buffer = schedule::kSendBuffer}, 0, channel);
  };
  const auto hear = [&](Rank rank, Channel channel) {
    return builder.recv(rank, {.buffer = schedule::kRecvBuffer}, 0, channel);
  };
  Tree tree(arguments.ranks);
  tree.add_all(placement.leader(site, 0), placement.members(site));

  std::vector<schedule::NodeId> before;  // what this rank has to hear before it releases its children
  for (const Rank child : tree.children(me)) before.push_back(hear(child, kUp));
  const auto after_all = [&](schedule::NodeId node, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) builder.after(before[i], node);
  };
  const std::size_t own = before.size();
  if (const Rank parent = tree.parent(me); parent != Tree::kNobody) {
    after_all(tell(parent, kUp), own);
    before.push_back(hear(parent, kDown));
  } else {
    for (Site other = 0; other < placement.sites(); ++other) {
      if (other == site) continue;
      after_all(tell(placement.leader(other, 0), kAcross), own);
      before.push_back(hear(placement.leader(other, 0), kAcross));
    }
  }
  for (const Rank child : tree.children(me)) after_all(tell(child, kDown), before.size());
  return builder.commit();
}

}  // namespace urakata::lanes
