// SPDX-License-Identifier: BSD-3-Clause
// What an operation between sites costs: over how many lanes it should go, and by how many connections each.
//
// The paper's model (Chiba, Endo, Matsuoka): with P lanes, P_max = max(n_0, n_1) nodes, delay L, b_L(P) the rate of one
// lane while P run, B the rate inside a site and M bytes for each process,
//     T_L(P) = L + x M / b_L(P) + y M / B + alpha,   x = P_max / P + P_max % P,   x + y = n_0 + n_1 - 1.
// There what crosses and what is handed out follow each other. Here all is a stream of segments, so they go on at the
// same time, and the slower of the two counts:
//     T(P, S) = d L + max(X / R(P, S), H(P) / B) + h(P) (segment / B + alpha) + W(P, S)
// with d delays and X bytes over the link;
//   R(P, S) = min(P S r, P q, l), for S connections of a pair of rate r, q between two nodes and l for the link; where
//             the root reaches each rank of the other site straight, P S r of as many pairs, and q of its own node;
//   H(P)      the bytes that the busiest node sends, or receives: what crosses goes by the same link of its own as what it
//             has for nodes near by, whose rate is B;
//   h(P)      hops inside the sites, before and after the crossing, which a segment has to take;
//   W(P, S)   what loss adds. As r, q and l were measured under the same loss, they have in them what it costs on the
//             way: windows that shrink, and what is sent again. What they do not have in them is the end, where nothing
//             else goes on while one packet is waited for: of what is under way in the last round trip one that is lost
//             comes a round trip later, and the last of a connection, behind which nothing comes that would show the
//             gap, two (TCP's tail loss probe, RFC 8985). So, with p the part of packets that is lost, N of them in the
//             last round trip and n = min(P S, N) connections,
//                 W = 2 L ((1 - (1 - p)^N) + (1 - (1 - p)^n)).
// Of an operation that crosses several links the slowest counts.
//
// P and S are chosen together. For each P, S is the least that carries nine tenths of what P lanes may, or as many as
// these hold, where that is more: with fewer, rate is left unused; more of them overflow the router's queue, which
// costs more than the model has. So S falls as P grows. Which P is taken, of those that cost least or hardly more, is
// for tune/lanes_choice.hpp to say.
//
// Windows are taken to have grown: the first operation after a pause takes some round trips more, of which nobody knows
// before whether there will be one.
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

inline constexpr double kInside = 125e6;  // bytes/s, B where no site has two nodes to measure it with
inline constexpr double kHop = 200e-6;    // s: a message inside a site, and the relay's part
inline constexpr double kPacket = 1448;   // bytes

// Who carries at the same time what crosses a link.
struct Way {
  std::uint32_t pairs = 1;  // of ranks
  std::uint32_t nodes = 1;  // of the site that has fewer of them at it
};
// What crosses from a site to another one over so many lanes, as lanes::build() takes them.
Way way_of(collectives::Operation operation, const Placement& placement, Site one, Site other, std::uint32_t lanes);

// R, in bytes/s.
double rate(const LinkFacts& facts, const Way& way, std::uint32_t streams);

// W, in s, where `bytes` cross.
double loss_wait(const LinkFacts& facts, double bytes, const Way& way, std::uint32_t streams);

// Connections of a pair of ranks that are enough for R; 1 to kMostStreams.
std::uint32_t streams_for(const LinkFacts& facts, const Way& way);

// Connections of a pair of ranks that are worth having for short messages, at least `streams` and at most kMostStreams:
// so many that what all pairs send before the first answer, `first_flight` bytes on each connection, fills the link for
// a round trip.
std::uint32_t first_streams_for(const LinkFacts& facts, const Way& way, std::uint32_t streams,
                                std::uint64_t first_flight);

// Of two sites, by the numbers that Placement was given, either way round; nullptr: not known.
using Links = std::function<const LinkFacts*(std::int32_t, std::int32_t)>;

struct Cost {
  std::uint32_t lanes = 0;  // as build() takes it
  double seconds = 0;
  std::uint32_t streams = 0;  // connections of a pair of ranks, on the link that counts
};
// Of each number of lanes that there can be, in their order, each with the connections of least cost. Empty: one of the
// links that the operation crosses is not known.
std::vector<Cost> costs(collectives::Operation operation, const collectives::Arguments& arguments,
                        const Placement& placement, const Links& links);
// Of so many lanes with `more` connections than those (`more` may be below 0) on each link. std::nullopt: not known, or
// no link can have as many.
std::optional<Cost> cost_with(collectives::Operation operation, const collectives::Arguments& arguments,
                              const Placement& placement, const Links& links, std::uint32_t lanes, std::int32_t more);

// Of an operation that has no site leaders, each rank sending to each straight: scatterv, gatherv, alltoall, alltoallv.
// From what this rank knows: of scatterv and gatherv only the root knows sizes, and of alltoallv each its own, so all
// are taken to have as much. std::nullopt: it does not know, or a link is not known.
std::optional<Cost> cost_without_lanes(collectives::Operation operation, const collectives::Arguments& arguments,
                                       const Placement& placement, const Links& links);

}  // namespace urakata::lanes
