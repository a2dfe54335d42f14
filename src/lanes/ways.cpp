// SPDX-License-Identifier: BSD-3-Clause
#include "lanes/ways.hpp"

#include <algorithm>
#include <cstddef>

#include "collectives/phases.hpp"

namespace urakata::lanes {

Nodes carry(Plan& plan, std::span<const Rank> way, Piece source, Piece target, std::uint32_t step) {
  std::vector<Rank> stops(way.begin(), way.end());
  stops.erase(std::unique(stops.begin(), stops.end()), stops.end());
  const auto here = std::ranges::find(stops, plan.rank());
  if (here == stops.end()) return {};
  const bool first = here == stops.begin();
  const bool last = here + 1 == stops.end();
  if (first && last) return plan.copy(source, target);
  if (first) return plan.send(*(here + 1), source, step);
  if (last) return plan.recv(*(here - 1), target, step);
  const Piece held = plan.inbox(source.bytes);
  const Nodes got = plan.recv(*(here - 1), held, step);
  const Nodes sent = plan.send(*(here + 1), held, step);
  plan.each(got, sent);
  plan.recycle(held, sent, got);
  return {};
}

void pace(Plan& plan, const Nodes& crossing, const Nodes& near) {
  const auto nodes = plan.builder().draft().nodes();
  for (const schedule::NodeId first : crossing) {
    for (const schedule::NodeId then : near) {
      if (nodes[first].count > 1 && nodes[first].count == nodes[then].count) plan.builder().each(first, then);
    }
  }
}

void Tree::add_all(Rank first, std::span<const Rank> ranks, Rank without, Rank second) {
  std::vector<Rank> row{first};
  if (second != kNobody && second != first) row.push_back(second);
  for (const Rank rank : ranks) {
    if (rank != without && std::ranges::find(row, rank) == row.end()) row.push_back(rank);
  }
  const auto count = static_cast<std::uint32_t>(row.size());
  for (std::uint32_t at = 0; at < count; ++at) {
    for (const std::uint32_t child : collectives::tree_of(at, count).children) add(row[at], row[child]);
  }
}

Nodes multicast(Plan& plan, const Placement& placement, const Tree& tree, Piece piece, std::uint32_t step,
                const Nodes& ready, const Nodes& free) {
  const Rank parent = tree.parent(plan.rank());
  Nodes have = ready;
  if (parent != Tree::kNobody) {
    have = plan.recv(parent, piece, step);
    plan.after(free, have);
  }
  Nodes crossing;
  for (const Rank child : tree.children(plan.rank())) {
    const Nodes sent = plan.send(child, piece, step);
    plan.each(have, sent);
    if (placement.site_of(child) == placement.site_of(plan.rank())) {
      pace(plan, crossing, sent);
    } else {
      crossing.insert(crossing.end(), sent.begin(), sent.end());
    }
  }
  return have;
}

// Computes ((x0 op x1) op x2) ... on every rank, so that all have the same result to the last bit. Each reduction
// writes its result over the next operand.
Nodes combine(Plan& plan, std::span<const Rank> peers, const Partial& partial, Piece result, std::uint32_t step) {
  Nodes ready;   // nodes that write what is combined so far
  Piece so_far;  // where that is
  Nodes filled;  // nodes that received into so_far
  const auto wait = [&](const Nodes& before, const Nodes& then, bool whole) {
    whole ? plan.after(before, then) : plan.each(before, then);
  };
  for (Site site = 0; site < peers.size(); ++site) {
    const bool own = site == partial.site;
    const Piece place = own ? partial.own : plan.inbox(partial.own.bytes);
    const Nodes got = own ? Nodes{} : plan.recv(peers[site], place, step);
    Nodes next = own ? partial.ready : got;
    if (site != 0) {
      const Nodes combined = plan.reduce(so_far, place);
      wait(ready, combined, partial.whole && site == partial.site + 1);
      wait(next, combined, partial.whole && own);
      if (own) wait(partial.sent, combined, partial.whole);
      plan.recycle(so_far, combined, filled);
      next = combined;
    }
    ready = next;
    so_far = place;
    filled = got;
  }
  if (so_far == result) return ready;
  const Nodes moved = plan.copy(so_far, result);
  plan.each(ready, moved);
  wait(partial.sent, moved, partial.whole);
  plan.recycle(so_far, moved, filled);
  return moved;
}

}  // namespace urakata::lanes
