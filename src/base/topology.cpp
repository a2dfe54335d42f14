// SPDX-License-Identifier: BSD-3-Clause
#include "base/topology.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/launcher.hpp"
#include "base/options/options.hpp"

namespace urakata {

void NodeRanks::note(std::size_t which, const CpuSet& its) {
  if (!masks) masks.emplace();
  if (its == mask) {
    ++masks->alike;
    if (which < rank) ++masks->before;
  } else {
    masks->different = masks->different | its;
  }
  if (its.meets(mask)) {
    ++masks->meeting;
    masks->together = masks->together | its;
  }
}

Result<Topology> Topology::from_text(std::string_view text) {
  Topology topology;
  unsigned node = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("/|", at), text.size());
    Result<CpuSet> cpus = CpuSet::from_text(text.substr(at, end - at));
    if (!cpus) return cpus.error();
    if (!cpus->empty()) topology.cores.push_back({*cpus, node});
    if (end < text.size() && text[end] == '|') ++node;
    at = end + 1;
  }
  return topology;
}

Topology Topology::of_this_node() {
  const char* found = std::getenv(kCoresVariable);
  if (found != nullptr) {
    Result<Topology> topology = from_text(found);
    if (topology && !topology->cores.empty()) return *topology;
  }
  Topology topology;
  const CpuSet mask = CpuSet::allowed();
  for (std::size_t cpu = 0; cpu < CpuSet::kLimit; ++cpu) {
    if (!mask.has(cpu)) continue;
    topology.cores.emplace_back();
    topology.cores.back().cpus.add(cpu);
  }
  return topology;
}

std::string Topology::text() const {
  std::string text;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    if (i > 0) text += cores[i].node != cores[i - 1].node ? '|' : '/';
    text += cores[i].cpus.text();
  }
  return text;
}

CpuSet Topology::cpus() const {
  CpuSet all;
  for (const Core& core : cores) all = all | core.cpus;
  return all;
}

std::vector<Core> Topology::within(const CpuSet& mask) const {
  std::vector<Core> inside;
  for (const Core& core : cores) {
    if (core.cpus.meets(mask)) inside.push_back({core.cpus & mask, core.node});
  }
  return inside;
}

std::size_t program_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const long threads = text == nullptr ? 1 : std::strtol(text, nullptr, 10);
  return threads < 1 ? 1 : static_cast<std::size_t>(threads);
}

NodeRanks ranks_of_this_node() {
  const Launcher started = launcher();
  NodeRanks node_ranks;
  node_ranks.mask = CpuSet::allowed();
  node_ranks.threads = program_threads();
  if (started.local_ranks > 0 && started.local_rank >= 0 && started.local_rank < started.local_ranks) {
    node_ranks.rank = static_cast<std::size_t>(started.local_rank);
    node_ranks.ranks = static_cast<std::size_t>(started.local_ranks);
  }
  return node_ranks;
}

}  // namespace urakata
