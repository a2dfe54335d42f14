// What the links between the job's sites carry, measured once in MPI_Init, for the choice of lanes and connections.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/link_facts.hpp"
#include "base/network.hpp"
#include "job/bootstrap.hpp"
#include "transport/lanes.hpp"

namespace urakata::job {

struct LinkRates {
  LinkFacts slowest;             // of the links
  std::uint32_t most_nodes = 1;  // of a site
};

// A pair sends until TCP's windows have grown, and then as long again, in which what arrives is counted: each as long as a
// few round trips and `least_s`, but no more than half of `most_bytes`.
struct LinkProbe {
  double least_s = 0.07;
  std::uint64_t most_bytes = 64UL * 1024 * 1024;
};

// Collective over the job; the same on each rank. Takes some forty round trips for each pair of sites, at least 0.4 s: by one
// connection between two nodes, by as many as there may be between them, and by those of all nodes that the smaller site
// has. `nodes`: as Job::nodes().
// nullopt: the host refuses, or lanes were lost. Leaves the lanes with the most connections that there may be.
std::optional<LinkRates> measure_links(Bootstrap& world, transport::Lanes& lanes, const Sites& sites,
                                       std::span<const std::int32_t> nodes, const LinkProbe& probe = {});

}  // namespace urakata::job
