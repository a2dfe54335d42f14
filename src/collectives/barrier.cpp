// SPDX-License-Identifier: BSD-3-Clause
// Barrier: when it is finished on a rank, all ranks have started it.
#include "collectives/algorithms.hpp"
#include "schedule/builder.hpp"

namespace urakata::collectives::barrier {

// Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988. In step k rank r sends to rank r + 2^k.
Built dissemination(const Arguments& arguments) {
  const std::uint32_t ranks = arguments.ranks;
  const std::uint32_t rank = arguments.rank;
  schedule::Builder builder("barrier/dissemination", ranks, rank);
  std::vector<schedule::NodeId> heard;
  for (std::uint64_t distance = 1; distance < ranks; distance *= 2) {
    const auto d = static_cast<std::uint32_t>(distance);
    const auto told = builder.send((rank + d) % ranks, {.buffer = schedule::kSendBuffer}, 0);
    for (auto node : heard) builder.after(node, told);
    heard.push_back(builder.recv((rank + ranks - d) % ranks, {.buffer = schedule::kRecvBuffer}, 0));
  }
  return builder.commit();
}

}  // namespace urakata::collectives::barrier
