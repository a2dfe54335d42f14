#include "tune/decision.hpp"

namespace urakata::tune {

using collectives::Operation;

namespace {

constexpr std::uint64_t KiB = 1024;
constexpr std::uint32_t kFew = 8;  // ranks that one can talk to all at once

Choice bcast(std::uint64_t bytes, std::uint32_t ranks, bool one_node) {
  if (ranks == 2) return {"binomial", 0, "two ranks: one message"};
  if (one_node) {
    if (bytes <= 64 * KiB) return {"binomial", 0, "fewest steps"};
    return {"chain", 128 * KiB, "large: pipelined"};
  }
  if (bytes <= 32 * KiB) return {"binomial", 0, "fewest steps"};
  return {"chain", 64 * KiB, "large: each link carries each byte once"};
}

Choice allreduce(std::uint64_t bytes, std::uint32_t ranks, bool commutative) {
  if (!commutative) {
    if (bytes <= 64 * KiB) return {"recursive_doubling", 0, "order of ranks kept"};
    return {"reduce_bcast", 0, "large, order of ranks kept"};
  }
  if (bytes <= 16 * KiB) return {"recursive_doubling", 0, "fewest steps"};
  if (ranks <= 2 || bytes <= 256 * KiB) return {"rabenseifner", 0, "each rank reduces its share"};
  return {"ring", 0, "large: only neighbours talk"};
}

}  // namespace

Choice choose(Operation operation, std::uint64_t bytes, std::uint32_t ranks, bool commutative, bool one_node) {
  const bool few = ranks <= kFew;
  switch (operation) {
    case Operation::bcast: return bcast(bytes, ranks, one_node);
    case Operation::allreduce: return allreduce(bytes, ranks, commutative);
    case Operation::allgather:
    case Operation::allgatherv:
      if (few) return {"spread", 0, "few ranks: one step"};
      if (bytes * ranks <= 64 * KiB) return {"bruck", 0, "fewest steps"};
      return {"ring", 0, "large: only neighbours talk"};
    case Operation::alltoall:
      if (!few && bytes <= 256) return {"bruck", 0, "small blocks: fewest messages"};
      if (ranks <= 32) return {"spread", 0, "few ranks: one step"};
      return {"pairwise", 0, "many ranks: one partner a step"};
    case Operation::alltoallv:
      if (ranks <= 32) return {"spread", 0, "few ranks: one step"};
      return {"pairwise", 0, "many ranks: one partner a step"};
    case Operation::gather:
    case Operation::scatter:
      if (!few && bytes <= 8 * KiB) return {"binomial", 0, "fewest steps"};
      return {"linear", 0, "each byte travels once"};
    case Operation::reduce:
      if (bytes <= 64 * KiB) return {"binomial", 0, "fewest steps"};
      if (commutative && !few) return {"rabenseifner", 0, "each rank reduces its share"};
      return {"chain", 0, "large: pipelined"};
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      if (!commutative || few) return {"pairwise", 0, "straight to the block's owner"};
      if (bytes * ranks <= 64 * KiB) return {"recursive_halving", 0, "fewest steps"};
      return {"ring", 0, "large: only neighbours talk"};
    case Operation::scan:
    case Operation::exscan:
      if (bytes <= 256 * KiB) return {"recursive_doubling", 0, "fewest steps"};
      return {"chain", 0, "large: pipelined"};
    case Operation::gatherv:
    case Operation::scatterv: return {"linear", 0, "the blocks' sizes are the root's secret"};
    case Operation::barrier:
    case Operation::count_: break;
  }
  return {"dissemination", 0, "fewest steps"};
}

}  // namespace urakata::tune
