// SPDX-License-Identifier: BSD-3-Clause
#include "tune/thread_placement.hpp"

#include <algorithm>

namespace urakata::tune {
namespace {

std::string several(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

// Estimates, without the masks of other ranks, how many ranks may run where this one may, this one included.
std::size_t guessed_sharers(const Topology& topology, const NodeRanks& node_ranks) {
  const std::size_t cores = std::max<std::size_t>(topology.cores.size(), 1);
  return std::max<std::size_t>((node_ranks.ranks * topology.within(node_ranks.mask).size() + cores - 1) / cores, 1);
}

// The cores that this rank need not share: outside the masks of ranks with other masks, its part among ranks with the
// same mask.
std::vector<Core> own_cores(const Topology& topology, const NodeRanks& node_ranks) {
  const std::vector<Core> mine = topology.within(node_ranks.mask);
  // The ranks that may run where this one may, in the order of the node.
  std::size_t sharers = guessed_sharers(topology, node_ranks);
  std::size_t place = node_ranks.rank % sharers;
  CpuSet others;
  if (node_ranks.masks) {
    sharers = node_ranks.masks->alike;
    place = node_ranks.masks->before;
    others = node_ranks.masks->different;
  }
  std::vector<Core> free;
  std::ranges::copy_if(mine, std::back_inserter(free), [&](const Core& core) { return !core.cpus.meets(others); });
  if (sharers <= 1) return free;
  const std::size_t from = place * free.size() / sharers;
  const std::size_t to = (place + 1) * free.size() / sharers;
  return {free.begin() + static_cast<std::ptrdiff_t>(from), free.begin() + static_cast<std::ptrdiff_t>(to)};
}

// Whether the ranks that may run where this one may have more threads than cores.
bool oversubscribed(const Topology& topology, const NodeRanks& node_ranks) {
  if (node_ranks.threads > topology.within(node_ranks.mask).size()) return true;
  if (!node_ranks.masks)
    return node_ranks.threads * guessed_sharers(topology, node_ranks) > topology.within(node_ranks.mask).size();
  return node_ranks.masks->meeting * node_ranks.threads > topology.within(node_ranks.masks->together).size();
}

// The number of cores that any rank of the node may use; node_ranks.masks is known.
std::size_t cores_of_all(const Topology& topology, const NodeRanks& node_ranks) {
  return topology.within(node_ranks.mask | node_ranks.masks->different).size();
}

Placement shared(const Topology& topology, const NodeRanks& node_ranks) {
  Placement placement;
  placement.oversubscribed = oversubscribed(topology, node_ranks);
  if (node_ranks.masks) {
    placement.node_ranks = node_ranks.ranks;
    placement.node_cores = cores_of_all(topology, node_ranks);
    placement.crowded = placement.node_ranks > placement.node_cores;
  }
  placement.progress_thread = node_ranks.mask;
  placement.reason = "shared: progress threads run on the rank's own CPUs " + node_ranks.mask.text();
  return placement;
}

}  // namespace

Placement place_progress_threads(const Topology& topology, const NodeRanks& node_ranks, PlacementWish wish,
                                 std::string_view progress_cpus) {
  if (!progress_cpus.empty()) {
    Placement placement = shared(topology, node_ranks);
    const Result<CpuSet> list = CpuSet::from_text(progress_cpus);
    if (!list || list->empty() || !list->without(topology.cpus()).empty()) {
      placement.refusal = "PROGRESS_CPUS=" + std::string(progress_cpus) + " is not within the node's CPUs " +
                          topology.cpus().text() + "; progress threads share the rank's cores";
      return placement;
    }
    std::vector<std::size_t> cpus;
    for (std::size_t cpu = 0; cpu < CpuSet::kLimit; ++cpu) {
      if (list->has(cpu)) cpus.push_back(cpu);
    }
    placement.progress_thread = CpuSet{};
    placement.progress_thread.add(cpus[node_ranks.rank % cpus.size()]);
    placement.spare = !placement.progress_thread.meets(node_ranks.mask);
    placement.reason = "PROGRESS_CPUS gives CPUs " + placement.progress_thread.text();
    return placement;
  }

  Placement placement = shared(topology, node_ranks);
  if (wish == PlacementWish::shared) return placement;
  placement.within_node = wish != PlacementWish::automatic;
  const std::vector<Core> own = own_cores(topology, node_ranks);
  if (own.size() <= node_ranks.threads) {
    const std::string cores = own.empty() ? "no core of its own" : several(own.size(), "core", "cores");
    const std::string why = "this rank has " + cores + " (CPUs " + node_ranks.mask.text() + ", " +
                            several(node_ranks.ranks, "rank", "ranks") + " on the node) for " +
                            several(node_ranks.threads, "computing thread", "computing threads");
    placement.reason =
        (placement.within_node ? "cores shared with the computation, since "
                               : "cores shared with the computation, only for operations with other nodes, since ") +
        why;
    if (wish == PlacementWish::spare) {
      placement.refused_spare = true;
      placement.refusal =
          "no core is spare: " + why + ". Start fewer ranks or threads, or bind each rank to more cores";
    }
    return placement;
  }
  // The program keeps the first cores. Of the others, the last one is taken that is near the first core's memory, or
  // else the last one.
  std::vector<Core> spare(own.rbegin(), own.rend() - static_cast<std::ptrdiff_t>(node_ranks.threads));
  std::ranges::stable_partition(spare, [&](const Core& core) { return core.node == own.front().node; });
  placement.progress_thread = spare.front().cpus;
  placement.spare = true;
  placement.within_node = true;
  placement.reason = "spare: " + several(own.size(), "core", "cores") + " for this rank and " +
                     several(node_ranks.threads, "thread", "threads") + " to compute; progress threads on CPUs " +
                     placement.progress_thread.text();
  return placement;
}

}  // namespace urakata::tune
