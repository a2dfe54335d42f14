// SPDX-License-Identifier: BSD-3-Clause
// Schedules for groups whose ranks are at several sites. What has to cross a long link crosses it once, over several
// lanes at a time.
//
// A site leader is a rank that sends and receives for other ranks of its site. The leaders of a site are on different
// nodes, as far as it has as many nodes as there are lanes. A lane is a pair of leaders at two sites, together with
// their share of what crosses the link. Inside a site the leaders gather and distribute. All data are streams of
// segments, so gathering, crossing and distributing overlap. The transport decides how many connections two leaders use
// (transport/stripes/stripes.hpp).
//
// Bytes that cross the links of one site with n ranks. Rooted operations cross in one direction only. M: bytes of the
// operation; S: number of sites.
//   scatter, gather   the blocks of ranks at other sites than the root's, once
//   bcast             M to each other site
//   reduce            M from each other site
//   allgather         n blocks to each other site
//   allreduce         M to each other site, in one delay; for S > 2 and M > kOneDelay 2 (S - 1) / S M, in two delays
// No result depends on the order of arrival: each rank combines in an order that follows from ranks and sites.
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

// Whether there is a schedule between sites for the operation. Depends only on what is equal on all ranks.
bool covers(Operation operation, bool commutative, const Placement& placement);

// Possible numbers of lanes. 0 (scatter, gather only): there are no site leaders and no lanes, and the root exchanges
// blocks directly with each rank of the other sites.
struct LaneRange {
  std::uint32_t least = 1, most = 1;
};
LaneRange lane_range(Operation operation, const Placement& placement);

// One rank's schedule, as by collectives::Algorithm::build. `lanes`: number of lanes, which lane_range() limits.
// arguments.segment: bytes of a segment; 0: kSegment, or straight_segment() without lanes. covers() must hold.
Result<schedule::Schedule> build(Operation operation, const Arguments& arguments, const Placement& placement,
                                 std::uint32_t lanes);

inline constexpr std::uint64_t kSegment = 64UL * 1024;
// Bytes of a segment of a block that goes directly from the root or to it. No leader forwards these segments, so they
// may be long, which is less work for the root. A block still has several: they pace the messages inside the root's
// site (pace() in ways.hpp).
std::uint64_t straight_segment(std::uint64_t block);
// For an allreduce between three or more sites: bytes up to which the whole buffer goes to every other site, in one
// delay. Longer buffers take two delays, and cross with fewer bytes.
inline constexpr std::uint64_t kOneDelay = 64UL * 1024;

}  // namespace urakata::lanes
