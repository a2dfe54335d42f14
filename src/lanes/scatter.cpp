// SPDX-License-Identifier: BSD-3-Clause
// Scatter and gather between sites: the way of each block, or of its parts in the lanes, from the root or to it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lanes/builders.hpp"
#include "lanes/shares.hpp"
#include "lanes/ways.hpp"

namespace urakata::lanes {

namespace {

using collectives::kRecvBuffer;
using collectives::kSendBuffer;

// Calls visit(way, rank, offset, bytes, step) for each stream: part of the block of `rank`, by the ranks of `way`, from
// the root on. Blocks of the root's own site go directly.
template <class Visit>
void for_each_way(const Arguments& arguments, const Placement& placement, std::uint32_t lanes, Visit&& visit) {
  const Rank root = arguments.root;
  const Site home = placement.site_of(root);
  std::uint32_t step = 0;
  // Streams with the longest way come first.
  for (Site site = 0; site < placement.sites(); ++site) {
    if (site == home) continue;
    if (lanes == 0) {
      for (const Rank rank : placement.members(site)) {
        visit(std::array{root, root, root, rank}, rank, std::uint64_t{0}, arguments.bytes, step++);
      }
      continue;
    }
    for_each_part(
        placement.members(site), lanes, [&](Rank) { return arguments.bytes; },
        [&](std::uint32_t lane, Rank rank, std::uint64_t offset, std::uint64_t bytes) {
          visit(std::array{root, placement.leader(home, lane, root), placement.leader(site, lane), rank}, rank, offset,
                bytes, step++);
        });
  }
  for (const Rank rank : placement.members(home)) {
    if (rank != root || !arguments.in_place) {
      visit(std::array{root, root, root, rank}, rank, std::uint64_t{0}, arguments.bytes, step);
    }
    ++step;
  }
}

// Makes the blocks of the root's own site keep the pace of those that cross: each is paced by one of these.
class Paced {
 public:
  Paced(Plan& plan, const Placement& placement) : plan_(plan), placement_(placement) {}

  // `nodes`: the root's nodes of the block of `rank`. Blocks that cross must be added first.
  void add(Rank rank, const Nodes& nodes) {
    const Rank root = plan_.arguments().root;
    if (plan_.rank() != root || rank == root || nodes.empty()) return;
    if (placement_.site_of(rank) != placement_.site_of(root)) {
      crossing_.push_back(nodes);
    } else if (!crossing_.empty()) {
      pace(plan_, crossing_[near_++ % crossing_.size()], nodes);
    }
  }

 private:
  Plan& plan_;
  const Placement& placement_;
  std::vector<Nodes> crossing_;
  std::size_t near_ = 0;  // number of blocks that have been paced
};

// Part of the block of `rank`: in the root's buffer, and in the rank's own.
Piece in_all(const Arguments& arguments, schedule::BufferId buffer, Rank rank, std::uint64_t offset,
             std::uint64_t bytes) {
  return {.buffer = buffer, .offset = static_cast<std::int64_t>(rank * arguments.bytes + offset), .bytes = bytes};
}
Piece in_own(schedule::BufferId buffer, std::uint64_t offset, std::uint64_t bytes) {
  return {.buffer = buffer, .offset = static_cast<std::int64_t>(offset), .bytes = bytes};
}

}  // namespace

Built scatter(const Arguments& arguments, const Placement& placement, std::uint32_t lanes) {
  Plan plan("scatter/lanes", arguments);
  Paced paced(plan, placement);
  for_each_way(arguments, placement, lanes,
               [&](std::array<Rank, 4> way, Rank rank, std::uint64_t offset, std::uint64_t bytes, std::uint32_t step) {
                 paced.add(rank, carry(plan, way, in_all(arguments, kSendBuffer, rank, offset, bytes),
                                       in_own(kRecvBuffer, offset, bytes), step));
               });
  return plan.commit();
}

Built gather(const Arguments& arguments, const Placement& placement, std::uint32_t lanes) {
  Plan plan("gather/lanes", arguments);
  Paced paced(plan, placement);
  for_each_way(arguments, placement, lanes,
               [&](std::array<Rank, 4> way, Rank rank, std::uint64_t offset, std::uint64_t bytes, std::uint32_t step) {
                 const std::array back{way[3], way[2], way[1], way[0]};
                 paced.add(rank, carry(plan, back, in_own(kSendBuffer, offset, bytes),
                                       in_all(arguments, kRecvBuffer, rank, offset, bytes), step));
               });
  return plan.commit();
}

}  // namespace urakata::lanes
