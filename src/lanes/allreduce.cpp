// SPDX-License-Identifier: BSD-3-Clause
// Reductions between sites. The leader of a lane combines the lane's share inside its site, in the order of
// ranks. Leaders then combine the results of the sites, in the order of sites.
#include <cstdint>
#include <vector>

#include "collectives/phases.hpp"
#include "lanes/builders.hpp"
#include "lanes/ways.hpp"

namespace urakata::lanes {

namespace {

using collectives::Contribution;
using collectives::kRecvBuffer;
using collectives::operator+;  // NOLINT(misc-unused-using-decls): of lists of nodes
using collectives::Partition;

// Combines the inputs of all ranks of this rank's site into `result` on `leader`. Returns the nodes that write the
// result on the leader, and those that read the input on other ranks.
Nodes within(Plan& plan, const Placement& placement, Rank leader, Piece input, Piece result, std::uint32_t step) {
  const Rank me = plan.rank();
  if (me != leader) return plan.send(leader, input, step);
  std::vector<Contribution> contributions;
  const auto members = placement.members(placement.site_of(me));
  for (auto it = members.rbegin(); it != members.rend(); ++it) {
    if (*it < me) contributions.push_back({.peer = *it, .left = true});
  }
  for (const Rank rank : members) {
    if (rank > me) contributions.push_back({.peer = rank, .left = false});
  }
  return collectives::accumulate(plan, input, result, contributions, step);
}

}  // namespace

Built reduce(const Arguments& arguments, const Placement& placement, std::uint32_t lanes) {
  Plan plan("reduce/lanes", arguments);
  const Rank root = arguments.root;
  const Site home = placement.site_of(root);
  const Rank me = arguments.rank;
  const Site site = placement.site_of(me);
  const Partition shares = Partition::even(arguments.bytes, arguments.element, lanes);
  std::uint32_t step = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane, step += 3) {
    const Piece input = shares.block(plan.input(), lane);
    const Rank arrives = placement.leader(home, lane, root);
    const Rank leader = placement.leader(site, lane, root);
    Nodes read;
    if (me != leader) {
      read = within(plan, placement, leader, input, {}, step);
    } else {
      Piece partial = me == root ? shares.block(kRecvBuffer, lane) : plan.temp(input.bytes);
      const Nodes ready = within(plan, placement, leader, input, partial, step);
      if (site != home) {
        plan.each(ready, plan.send(arrives, partial, step + 1));
      } else {
        std::vector<Rank> peers;
        for (Site other = 0; other < placement.sites(); ++other) peers.push_back(placement.leader(other, lane));
        const Nodes made =
            combine(plan, peers, {.site = site, .own = partial, .ready = ready, .sent = {}}, partial, step + 1);
        if (me != root) plan.each(made, plan.send(root, partial, step + 2));
      }
    }
    if (me == root && arrives != root) {
      const Nodes got = plan.recv(arrives, shares.block(kRecvBuffer, lane), step + 2);
      if (arguments.in_place) plan.after(read, got);
    }
  }
  return plan.commit();
}

Built allreduce(const Arguments& arguments, const Placement& placement, std::uint32_t lanes) {
  Plan plan("allreduce/lanes", arguments);
  const Rank me = arguments.rank;
  const Site site = placement.site_of(me);
  const Site sites = placement.sites();
  const Partition shares = Partition::even(arguments.bytes, arguments.element, lanes);
  std::uint32_t step = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane, step += 4) {
    const Piece input = shares.block(plan.input(), lane);
    const Piece result = shares.block(kRecvBuffer, lane);
    const Rank leader = placement.leader(site, lane);
    Tree tree(arguments.ranks);
    tree.add_all(leader, placement.members(site));
    if (me != leader) {
      const Nodes read = within(plan, placement, leader, input, {}, step);
      multicast(plan, placement, tree, result, step + 3, {}, arguments.in_place ? read : Nodes{});
      continue;
    }
    const Nodes ready = within(plan, placement, leader, input, result, step);
    std::vector<Rank> peers;
    for (Site other = 0; other < sites; ++other) peers.push_back(placement.leader(other, lane));
    if (sites == 2 || arguments.bytes <= kOneDelay) {
      Nodes sent;
      for (Site other = 0; other < sites; ++other) {
        if (other != site) sent = sent + plan.send(peers[other], result, step + 1);
      }
      plan.each(ready, sent);
      const Nodes made =
          combine(plan, peers, {.site = site, .own = result, .ready = ready, .sent = sent}, result, step + 1);
      multicast(plan, placement, tree, result, step + 3, made, {});
      continue;
    }
    // Reduce-scatter and allgather between the leaders: each site combines one part of the share.
    const Partition parts = Partition::even(result.bytes, arguments.element, sites);
    const auto part = [&](Site of) {
      Piece piece = parts.block(kRecvBuffer, of);
      piece.offset += result.offset;
      return piece;
    };
    std::vector<Nodes> sent(sites);
    for (Site other = 0; other < sites; ++other) {
      if (other == site) continue;
      sent[other] = plan.send(peers[other], part(other), step + 1);
      plan.after(ready, sent[other]);
    }
    const Nodes made =
        combine(plan, peers, {.site = site, .own = part(site), .ready = ready, .sent = {}, .whole = true}, part(site),
                step + 1);
    for (Site other = 0; other < sites; ++other) {
      if (other != site) plan.each(made, plan.send(peers[other], part(site), step + 2));
    }
    Nodes all = made;
    for (Site other = 0; other < sites; ++other) {
      if (other == site) continue;
      const Nodes got = plan.recv(peers[other], part(other), step + 2);
      plan.after(sent[other], got);
      all = all + got;
    }
    for (const Rank child : tree.children(me)) plan.after(all, plan.send(child, result, step + 3));
  }
  return plan.commit();
}

}  // namespace urakata::lanes
