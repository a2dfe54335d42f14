// Schedules for groups whose ranks are at several sites: what has to cross a long link crosses it once, over several
// lanes at a time.
//
// A lane is a pair of delegates at two sites, on nodes of their own, and what they have in common: each has its share of
// what crosses. Inside a site, delegates collect and hand out; everything is a stream of segments, so that collecting,
// crossing and handing out go on at the same time. (How one delegate reaches the other, by how many connections, is the
// transport's: transport/lanes.hpp.)
//
// What crosses each link in each direction, of an operation with M bytes, S sites and n ranks at this one:
//   scatter, gather   the blocks of ranks at other sites than the root's, once
//   bcast             M to each other site
//   reduce            M from each other site
//   allgather         n blocks to each other site
//   allreduce         M to each other site, in one delay; or, where that is less, 2 (S - 1) / S M in two delays
// No result depends on what came first: each rank combines in an order that is fixed by ranks and sites.
//
// Source: Chiba, Endo, Matsuoka, "High-performance MPI broadcast and scatter/gather on wide-area networks" for lanes of
// scatter and gather; here pipelined, for any number of sites, and for the other operations.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "collectives/collectives.hpp"
#include "lanes/placement.hpp"
#include "schedule/schedule.hpp"

namespace urakata::lanes {

using collectives::Arguments;
using collectives::Operation;

// Is there a schedule between sites for the operation? Depends only on what is equal on all ranks.
bool covers(Operation operation, bool commutative, const Placement& placement);

// How many lanes there can be. 0 (scatter, gather): no delegates, the root and each rank at another site have a lane of
// their own.
struct LaneRange {
  std::uint32_t least = 1, most = 1;
};
LaneRange lane_range(Operation operation, const Placement& placement);

// One rank's schedule, as collectives::Algorithm::build. `lanes`: how many, of lane_range() the nearest.
// arguments.segment: bytes of a segment; 0: kSegment, or, where there are no delegates, straight_segment().
Result<schedule::Schedule> build(Operation operation, const Arguments& arguments, const Placement& placement,
                                 std::uint32_t lanes);

inline constexpr std::uint64_t kSegment = 64UL * 1024;
// Bytes of a segment of a block that goes straight from the root, or to it. Nobody waits for it to hand it on, so it may
// be longer, which is less work for the root; several of a block remain, by which what stays at the site is paced.
std::uint64_t straight_segment(std::uint64_t block);
// An allreduce of three or more sites: below this the buffer goes to every other site at once, in one delay; above, the
// bytes count.
inline constexpr std::uint64_t kOneDelay = 64UL * 1024;

}  // namespace urakata::lanes
