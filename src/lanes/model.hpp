// What an operation between sites costs, and over how many lanes it should go.
//
// The paper's model (Chiba, Endo, Matsuoka): with P lanes, P_max = max(n_0, n_1) nodes, delay L, b_L(P) the rate of one lane
// while P run, B the rate inside a site and M bytes for each process,
//     T_L(P) = L + x M / b_L(P) + y M / B + alpha,   x = P_max / P + P_max % P,   x + y = n_0 + n_1 - 1.
// There what crosses and what is handed out follow each other. Here all is a stream of segments, so they go on at the same
// time, and the slower of the two counts:
//     T(P) = d L + max(X / R(P), H(P) / B) + h (segment / B + alpha)
// with d delays, X bytes over the link, R(P) = min(P S r, P q, l) for S connections of rate r, q between two nodes
// and l for the link; H(P) = X (P - 1) / P bytes that the root's node hands to others, and h hops inside the sites. Of an
// operation that crosses several links the slowest counts.
//
// Thread-safety: all by any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/link_facts.hpp"
#include "collectives/collectives.hpp"
#include "lanes/placement.hpp"

namespace urakata::lanes {

inline constexpr double kInside = 125e6;  // bytes/s, B where no site has two nodes to measure it with
inline constexpr double kHop = 200e-6;    // s: a message inside a site, and the relay's part

double rate(const LinkFacts& facts, std::uint32_t lanes, std::uint32_t streams);

// Connections of a pair of ranks with which `lanes` lanes fill the link; 1 to 16.
std::uint32_t streams_for(const LinkFacts& facts, std::uint32_t lanes);

// Connections of a pair of ranks that are worth having for short messages, at least `streams` and at most 16: so many that
// what `lanes` lanes send before the first answer, `first_flight` bytes on each connection, fills the link for a round
// trip.
std::uint32_t first_streams_for(const LinkFacts& facts, std::uint32_t lanes, std::uint32_t streams,
                                std::uint64_t first_flight);

// A link between two sites.
struct Link {
  LinkFacts facts;
  std::uint32_t streams = 1;  // connections of a pair of ranks
};
// Of two sites, by the numbers that Placement was given, either way round; nullptr: not known.
using Links = std::function<const Link*(std::int32_t, std::int32_t)>;

struct Cost {
  std::uint32_t lanes = 0;  // as build() takes it
  double seconds = 0;
  std::uint32_t streams = 0;  // connections of a pair of ranks, on the link that counts
};
// Of each number of lanes that there can be, in their order. Empty: one of the links that the operation crosses is not known.
std::vector<Cost> costs(collectives::Operation operation, const collectives::Arguments& arguments,
                        const Placement& placement, const Links& links);

}  // namespace urakata::lanes
