// SPDX-License-Identifier: BSD-3-Clause
// The record of the network between the nodes of a job. All ranks make it together in MPI_Init (job/wiring.hpp), and it
// is equal on all of them. From it follows which messages go by transport `wire` (tune/transport_choice.hpp).
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
  std::vector<std::int32_t> node;  // of each rank: its node, counted from 0
  std::size_t nodes = 0;
  std::vector<bool> wire;     // of each rank: whether it can and may use transport `wire`
  std::string_view obstacle;  // why the lowest rank without `wire` has none; static storage
  bool misnamed = false;      // whether `obstacle` is that WIRE_INTERFACE names no usable interface of that rank's node
  std::vector<bool> better;   // of each rank: whether its node has a network that is to be preferred to TCP
  // Of each pair of nodes, at index first * nodes + second. `joined`: whether the two reach each other over TCP in both
  // directions; in large jobs only some pairs are tried, and all count as joined if all of these are.
  std::vector<bool> joined;
  std::vector<bool> one_way;                 // whether only the first reaches the second; empty: not known
  std::vector<std::uint32_t> round_trip_us;  // the least round trip that either of the two has seen; 0: not known
};

// The lowest rank of each node.
inline std::vector<std::int32_t> first_ranks(const Network& network) {
  std::vector<std::int32_t> found(network.nodes);
  for (std::size_t rank = network.node.size(); rank-- > 0;) {
    found[static_cast<std::size_t>(network.node[rank])] = static_cast<std::int32_t>(rank);
  }
  return found;
}

// The sites of a job: nodes with short round trips between them are at one site. Equal on all ranks.
struct Sites {
  std::size_t count = 1;
  std::vector<std::int32_t> of;    // of each rank: its site, counted from 0; empty: all ranks are at one site
  std::vector<std::string> names;  // of each site; may be empty if there is one
  std::string why;                 // one sentence: how they were found
  // Of each pair of sites, at index first * count + second: the longest round trip within a site, the shortest between
  // two sites. 0: not known. May be empty if there is one site.
  std::vector<std::uint32_t> round_trip_us;
};

}  // namespace urakata
