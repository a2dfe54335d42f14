// SPDX-License-Identifier: BSD-3-Clause
// Schedules for groups whose ranks are at several sites: what has to cross a long link crosses it once, over several
// lanes at a time.
//
// A site leader is a rank that sends and receives for other ranks of its site. Leaders of one site are on
// nodes of their own. A lane is a pair of leaders at two sites, together with their share of what crosses the
// link. Inside a site the leaders gather and distribute. All data are streams of segments, so gathering,
// crossing and distributing overlap. The transport decides by how many connections a leader reaches the other
// one (transport/stripes/stripes.hpp).
//
// Bytes that cross the links of one site with n ranks; rooted operations cross in one direction only. M: bytes of the
// operation; S: number of sites.
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
#include "lanes/site_placement.hpp"
#include "schedule/schedule.hpp"

namespace urakata::lanes {

using collectives::Arguments;
using collectives::Operation;

// Is there a schedule between sites for the operation? Depends only on what is equal on all ranks.
bool covers(Operation operation, bool commutative, const Placement& placement);

// Possible numbers of lanes. 0 (scatter, gather only): there are no site leaders and no lanes, and the root exchanges
// blocks directly with each rank of the other sites.
struct LaneRange {
  std::uint32_t least = 1, most = 1;
};
LaneRange lane_range(Operation operation, const Placement& placement);

// One rank's schedule, as collectives::Algorithm::build. `lanes`: how many, of lane_range() the nearest.
// arguments.segment: bytes of a segment; 0: kSegment, or, without site leaders straight_segment().
Result<schedule::Schedule> build(Operation operation, const Arguments& arguments, const Placement& placement,
                                 std::uint32_t lanes);

inline constexpr std::uint64_t kSegment = 64UL * 1024;
// Bytes of a segment of a block that goes directly from the root or to it. No leader forwards these segments, so they
// may be long, which is less work for the root. A block still has several: they pace the messages inside the root's
// site (pace() in ways.hpp).
std::uint64_t straight_segment(std::uint64_t block);
// An allreduce of three or more sites: below this the buffer goes to every other site at once, in one delay; above, the
// bytes count.
inline constexpr std::uint64_t kOneDelay = 64UL * 1024;

}  // namespace urakata::lanes
