// SPDX-License-Identifier: BSD-3-Clause
// Predicts the time of an operation between sites. The choice of lanes, and of connections for each, rests on it.
//
// The model of the paper (lanes.hpp): with P lanes, n_0 and n_1 nodes at two sites, P_max = max(n_0, n_1), delay L,
// b_L(P) the rate of one lane while P run, B the rate inside a site and M bytes for each process,
//     T_L(P) = L + x M / b_L(P) + y M / B + alpha,   x = P_max / P + P_max % P,   x + y = n_0 + n_1 - 1.
// There all data cross first, and are distributed then. Our data are streams of segments. So crossing and distributing
// overlap, and the slower of the two counts:
//     T(P, S) = d L + max(X / R(P, S), H(P) / B) + h(P) segment / B + (h(P) + 1) alpha + W(P, S)
// with d delays, X bytes over the link, and the time alpha of a message inside a site (kHop);
//   R(P, S) = min(P S r, N q, l), for S connections of a pair of ranks. r is the rate of a connection, q that between
//             two nodes, and l that of the link. N is P, or the number of nodes of a site that has fewer: lanes then
//             share nodes there. Without lanes, P S r is taken for as many pairs as the other site has ranks, and N q
//             for the root's node alone. An alltoall uses all pairs of ranks, and N is the number of nodes of the site
//             with fewer;
//   H(P)      bytes that the busiest node sends, or that it receives. A node's own link, of rate B, carries what
//             crosses as well as what goes to nodes of the same site;
//   h(P)      hops of a segment inside the sites, before and after the crossing;
//   W(P, S)   time that packet loss adds. r, q and l were measured under the same loss. So they include what loss
//             costs in the middle of an operation: smaller windows and retransmissions. They do not include the end,
//             where the operation waits for a lost packet and nothing else. A packet that is lost in the last round
//             trip comes one round trip later. The last packet of a connection comes two later, since no packet
//             follows that would show the gap (TCP's tail loss probe, RFC 8985). With p the part of packets that is
//             lost, N packets in the last round trip and n = min(P S, N) connections,
//                 W = 2 L ((1 - (1 - p)^N) + (1 - (1 - p)^n)).
// If an operation crosses several links, the slowest counts.
//
// For each P, S is the least number of connections that carries nine tenths of what P lanes may carry, or as many
// connections as that holds, if these are more. Fewer connections leave rate unused. More of them overflow the router's
// queue, which costs more than the model has. So S falls as P grows. tune/lanes_choice.hpp chooses P.
//
// The model assumes that TCP's windows have grown. The first operation after a pause takes some round trips more, but
// whether there will be a pause is not known beforehand.
//
// Thread-safety: all by any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/link_facts.hpp"
#include "collectives/collectives.hpp"
#include "lanes/site_placement.hpp"

namespace urakata::lanes {

inline constexpr double kInside = 125e6;  // bytes/s; B if no site has two nodes to measure it with
inline constexpr double kHop = 200e-6;    // s; alpha: a message inside a site, and its forwarding
inline constexpr double kPacket = 1448;   // bytes of payload

// The ranks and nodes that carry at the same time what crosses a link.
struct Way {
  std::uint32_t pairs = 1;  // number of pairs of ranks
  std::uint32_t nodes = 1;  // number of nodes that carry, at the site where they are fewer
};
// The way of an operation from one site to another one. `lanes`: as lanes::build() takes it.
Way way_of(collectives::Operation operation, const Placement& placement, Site one, Site other, std::uint32_t lanes);

// R, in bytes/s. `streams`: S.
double rate(const LinkFacts& facts, const Way& way, std::uint32_t streams);

// W, in s, if `bytes` cross.
double loss_wait(const LinkFacts& facts, double bytes, const Way& way, std::uint32_t streams);

// S: the connections of a pair of ranks that are enough; 1 to kMostStreams.
std::uint32_t streams_for(const LinkFacts& facts, const Way& way);

// Connections of a pair of ranks that are worth having for short messages. What all pairs send before the first answer,
// `first_flight` bytes on each connection, then fills the link for three quarters of a round trip. At least `streams`,
// and at most kMostStreams unless `streams` is more.
std::uint32_t first_streams_for(const LinkFacts& facts, const Way& way, std::uint32_t streams,
                                std::uint64_t first_flight);

// The facts of the link between two sites, by the numbers that Placement was given, in either order; nullptr: unknown.
using Links = std::function<const LinkFacts*(std::int32_t, std::int32_t)>;

struct Cost {
  std::uint32_t lanes = 0;  // as build() takes it
  double seconds = 0;
  std::uint32_t streams = 0;  // connections of a pair of ranks, on the slowest link
};
// The cost over each number of lanes in lane_range(), ascending, with streams_for() connections on each link. Empty:
// one of the links that the operation crosses is not known, or it crosses none.
std::vector<Cost> costs(collectives::Operation operation, const collectives::Arguments& arguments,
                        const Placement& placement, const Links& links);
// The cost over this number of lanes with `more` connections (fewer if negative) on each link than streams_for(), but 1
// to kMostStreams. std::nullopt: a link is not known, or those limits leave the number on all links as it is.
std::optional<Cost> cost_with(collectives::Operation operation, const collectives::Arguments& arguments,
                              const Placement& placement, const Links& links, std::uint32_t lanes, std::int32_t more);

// The cost of an operation without site leaders, whose ranks send directly to each other: scatterv, gatherv, alltoall,
// alltoallv. Uses only what this rank knows. The sizes of scatterv and gatherv are known to the root alone. In an
// alltoallv, a rank knows its own sizes, and the other ranks of its site are assumed to have the same sum.
// std::nullopt: another operation, or this rank does not know the sizes, or a link is not known.
std::optional<Cost> cost_without_lanes(collectives::Operation operation, const collectives::Arguments& arguments,
                                       const Placement& placement, const Links& links);

}  // namespace urakata::lanes
