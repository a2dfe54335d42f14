// SPDX-License-Identifier: BSD-3-Clause
// The record of the network between the nodes of a job: what all ranks have found together in MPI_Init
// (job/wiring.hpp), the same on each. Which messages go by transport `wire` follows from it
// (tune/transport_choice.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace urakata {

struct Network {
  // Why nothing is known, such as "all ranks are on one node". Empty: all of the members below are known.
  std::string nothing;
  std::vector<std::int32_t> node;  // of each rank, counted from 0
  std::size_t nodes = 0;
  std::vector<bool> wire;     // of each rank: it can and may talk by wire
  std::string_view obstacle;  // why the lowest rank without `wire` has none; static storage
  bool misnamed = false;      // that is because WIRE_INTERFACE names no interface that leads to that rank's node
  std::vector<bool> better;   // of each rank: its node has a network that is to be preferred
  std::vector<bool> joined;   // of each pair of nodes, row by row: they reach each other over TCP, in both directions
  std::vector<bool> one_way;  // likewise: the first reaches the second, but not the other way round; empty: not known
  // Likewise: the least time of a round trip that either of the two has seen; 0: not known.
  std::vector<std::uint32_t> round_trip_us;
};

// The lowest rank of each node.
inline std::vector<std::int32_t> first_ranks(const Network& network) {
  std::vector<std::int32_t> found(network.nodes);
  for (std::size_t rank = network.node.size(); rank-- > 0;) {
    found[static_cast<std::size_t>(network.node[rank])] = static_cast<std::int32_t>(rank);
  }
  return found;
}

// Where the ranks of a job are: nodes with short round trips between them are at one site. The same on each rank.
struct Sites {
  std::size_t count = 1;
  std::vector<std::int32_t> of;    // of each rank; empty: all are at one
  std::vector<std::string> names;  // of each site
  std::string why;                 // one sentence: how they were found
  // Of each pair of sites, row by row, us; within a site the longest round trip, between two the shortest. 0: not
  // known.
  std::vector<std::uint32_t> round_trip_us;
};

}  // namespace urakata
