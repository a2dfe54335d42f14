// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives: a block from and to each neighbour of a communicator's topology. neighbor_allgather(v) and
// neighbor_alltoall(w) use this algorithm with other blocks.
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/plan.hpp"

namespace urakata::collectives::neighbor_alltoallv {
namespace {

Piece block(BufferId buffer, const Blocks& blocks, std::size_t neighbour) {
  return {.buffer = buffer, .offset = blocks.displacements[neighbour], .bytes = blocks.bytes[neighbour]};
}

}  // namespace

Built spread(const Arguments& arguments) {
  Plan plan("neighbor_alltoallv/spread", arguments);
  const Neighbourhood& neighbours = arguments.neighbours;
  std::vector<std::size_t> own;  // sources that are this rank itself, in the order in which their blocks are matched
  for (std::size_t i = 0; i < neighbours.sources.size(); ++i) {
    const std::size_t s = neighbours.order.empty() ? i : neighbours.order[i];
    const std::uint32_t source = neighbours.sources[s];
    if (source == arguments.rank) {
      own.push_back(s);
    } else if (source != Neighbourhood::kNobody) {
      plan.recv(source, block(kRecvBuffer, arguments.recv, s));
    }
  }
  std::size_t met = 0;
  for (std::size_t d = 0; d < neighbours.destinations.size(); ++d) {
    const std::uint32_t destination = neighbours.destinations[d];
    const Piece from = block(kSendBuffer, arguments.send, d);
    if (destination == arguments.rank) {
      if (met == own.size())
        return Error{"neighbor_alltoallv: more edges from a rank to itself than to it from itself"};
      plan.copy(from, block(kRecvBuffer, arguments.recv, own[met++]));
    } else if (destination != Neighbourhood::kNobody) {
      plan.send(destination, from);
    }
  }
  return plan.commit();
}

}  // namespace urakata::collectives::neighbor_alltoallv
