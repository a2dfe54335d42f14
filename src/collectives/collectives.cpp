// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/collectives.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "collectives/algorithms.hpp"

namespace urakata::collectives {
namespace {

constexpr std::size_t kOperations = static_cast<std::size_t>(Operation::count_);

constexpr std::array<std::string_view, kOperations> kOperationNames = {"barrier",
                                                                       "bcast",
                                                                       "gather",
                                                                       "gatherv",
                                                                       "scatter",
                                                                       "scatterv",
                                                                       "allgather",
                                                                       "allgatherv",
                                                                       "alltoall",
                                                                       "alltoallv",
                                                                       "neighbor_alltoallv",
                                                                       "reduce",
                                                                       "allreduce",
                                                                       "reduce_scatter",
                                                                       "reduce_scatter_block",
                                                                       "scan",
                                                                       "exscan"};

constexpr Algorithm kBarrier[] = {
    {"dissemination", "each rank tells ranks 1, 2, 4 ... away (Hensgen, Finkel, Manber 1988)", barrier::dissemination},
};
constexpr Algorithm kBcast[] = {
    {"binomial", "binomial tree: fewest steps", bcast::binomial},
    {"knomial", "tree of radix 4: flatter, for small messages and many ranks", bcast::knomial},
    {"chain", "from rank to rank in segments: each link carries each byte once", bcast::chain},
    {"scatter_allgather", "binomial scatter and ring allgather (van de Geijn; Barnett et al. 1994)",
     bcast::scatter_allgather},
};
constexpr Algorithm kGather[] = {
    {"binomial", "binomial tree: fewest steps", gather::binomial},
    {"linear", "all straight to the root: each byte travels once", gather::linear},
};
constexpr Algorithm kGatherv[] = {
    {"linear", "all straight to the root", gatherv::linear},
};
constexpr Algorithm kScatter[] = {
    {"binomial", "binomial tree: fewest steps", scatter::binomial},
    {"linear", "straight from the root to all: each byte travels once", scatter::linear},
};
constexpr Algorithm kScatterv[] = {
    {"linear", "straight from the root to all", scatterv::linear},
};
constexpr Algorithm kAllgather[] = {
    {"ring", "blocks go round a ring: only neighbours talk, for large blocks", allgather::ring},
    {"recursive_doubling", "what a rank holds doubles each step (Thakur, Rabenseifner, Gropp 2005)",
     allgather::recursive_doubling},
    {"bruck", "fewest steps for any number of ranks (Bruck et al. 1997)", allgather::bruck},
    {"neighbour_exchange", "pairs of blocks between neighbours in half the ring's steps (Chen et al. 2005)",
     allgather::neighbour_exchange},
    {"spread", "all to all at once, in one step: for few ranks", allgather::spread},
};
constexpr Algorithm kAllgatherv[] = {
    {"ring", "blocks go round a ring: only neighbours talk, for large blocks", allgatherv::ring},
    {"bruck", "fewest steps for any number of ranks, through a temporary (Bruck et al. 1997)", allgatherv::bruck},
    {"spread", "all to all at once, in one step: for few ranks", allgatherv::spread},
};
constexpr Algorithm kAlltoall[] = {
    {"pairwise", "one partner a step, two steps under way: for large blocks", alltoall::pairwise},
    {"bruck", "fewest messages, each byte travels several times (Bruck et al. 1997)", alltoall::bruck},
    {"spread", "all to all at once", alltoall::spread},
};
constexpr Algorithm kAlltoallv[] = {
    {"pairwise", "one partner a step, two steps under way: for large blocks", alltoallv::pairwise},
    {"spread", "all to all at once", alltoallv::spread},
};
constexpr Algorithm kNeighborAlltoallv[] = {
    {"spread", "all to all neighbours at once", neighbor_alltoallv::spread},
};
constexpr Algorithm kReduce[] = {
    {"binomial", "binomial tree: fewest steps, keeps the order of ranks", reduce::binomial},
    {"chain", "from rank to rank in segments, keeps the order of ranks", reduce::chain},
    {"rabenseifner", "recursive halving and binomial gather (Rabenseifner 2004)", reduce::rabenseifner, true},
    {"linear", "all inputs straight to the root, which combines them in rank order", reduce::linear, false, true},
};
constexpr Algorithm kAllreduce[] = {
    {"recursive_doubling", "partners 1, 2, 4 ... ranks away exchange partial results, keeps the order of ranks",
     allreduce::recursive_doubling},
    {"rabenseifner", "recursive halving and doubling (Rabenseifner 2004)", allreduce::rabenseifner, true},
    {"ring", "reduce-scatter and allgather round a ring in segments (Patarasuk, Yuan 2009)", allreduce::ring, true},
    {"spread", "all inputs to all at once, combined in rank order by each: for few ranks", allreduce::spread, false,
     true},
    {"reduce_bcast", "binomial reduction to rank 0 and binomial broadcast, keeps the order of ranks",
     allreduce::reduce_bcast},
};
constexpr Algorithm kReduceScatter[] = {
    {"pairwise", "all contributions straight to the block's owner, keeps the order of ranks", reduce_scatter::pairwise,
     false, true},
    {"recursive_halving", "halves exchanged over shrinking distances (Thakur, Rabenseifner, Gropp 2005)",
     reduce_scatter::recursive_halving, true},
    {"ring", "partial results go round a ring: only neighbours talk", reduce_scatter::ring, true},
    {"reduce_scatterv", "binomial reduction to rank 0 and binomial scatter, keeps the order of ranks",
     reduce_scatter::reduce_scatterv},
};
constexpr Algorithm kReduceScatterBlock[] = {
    {kReduceScatter[0].name, kReduceScatter[0].sentence, reduce_scatter_block::pairwise, false, true},
    {kReduceScatter[1].name, kReduceScatter[1].sentence, reduce_scatter_block::recursive_halving, true},
    {kReduceScatter[2].name, kReduceScatter[2].sentence, reduce_scatter_block::ring, true},
    {kReduceScatter[3].name, kReduceScatter[3].sentence, reduce_scatter_block::reduce_scatterv},
};
constexpr Algorithm kScan[] = {
    {"recursive_doubling", "rows of 1, 2, 4 ... ranks handed up (Hillis, Steele 1986)", scan::recursive_doubling},
    {"chain", "from rank to rank in segments: each link carries each byte once", scan::chain},
    {"spread", "all inputs straight to all higher ranks, combined in rank order by each", scan::spread, false, true},
};
constexpr Algorithm kExscan[] = {
    {"recursive_doubling", "rows of 1, 2, 4 ... ranks handed up (Hillis, Steele 1986)", exscan::recursive_doubling},
    {"chain", "from rank to rank in segments: each link carries each byte once", exscan::chain},
    {"spread", "all inputs straight to all higher ranks, combined in rank order by each", exscan::spread, false, true},
};

constexpr std::array<std::span<const Algorithm>, kOperations> kAlgorithms = {kBarrier,
                                                                             kBcast,
                                                                             kGather,
                                                                             kGatherv,
                                                                             kScatter,
                                                                             kScatterv,
                                                                             kAllgather,
                                                                             kAllgatherv,
                                                                             kAlltoall,
                                                                             kAlltoallv,
                                                                             kNeighborAlltoallv,
                                                                             kReduce,
                                                                             kAllreduce,
                                                                             kReduceScatter,
                                                                             kReduceScatterBlock,
                                                                             kScan,
                                                                             kExscan};

std::string listed(std::string list, std::string_view name) {
  if (!list.empty()) list += ", ";
  return list.append(name);
}

}  // namespace

std::string_view name(Operation operation) { return kOperationNames[static_cast<std::size_t>(operation)]; }

bool is_rooted(Operation operation) {
  switch (operation) {
    case Operation::bcast:
    case Operation::gather:
    case Operation::gatherv:
    case Operation::scatter:
    case Operation::scatterv:
    case Operation::reduce:
      return true;
    default:
      return false;
  }
}

Result<Operation> operation_named(std::string_view name) {
  std::string valid;
  for (std::size_t i = 0; i < kOperations; ++i) {
    if (kOperationNames[i] == name) return static_cast<Operation>(i);
    valid = listed(std::move(valid), kOperationNames[i]);
  }
  return Error{"no collective operation is called \"" + std::string(name) + "\"; there are " + valid};
}

std::span<const Algorithm> algorithms(Operation operation) { return kAlgorithms[static_cast<std::size_t>(operation)]; }

Result<const Algorithm*> algorithm_named(Operation operation, std::string_view name) {
  std::string valid;
  for (const Algorithm& algorithm : algorithms(operation)) {
    if (algorithm.name == name) return &algorithm;
    valid = listed(std::move(valid), algorithm.name);
  }
  return Error{std::string(collectives::name(operation)) + " has no algorithm \"" + std::string(name) + "\"; it has " +
               valid};
}

}  // namespace urakata::collectives
