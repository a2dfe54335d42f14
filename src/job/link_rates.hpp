// SPDX-License-Identifier: BSD-3-Clause
// What the links between the job's sites carry, for the choice of lanes and connections. The values come from earlier
// jobs (known_rates.hpp), or are measured in MPI_Init.
//
// Thread-safety: measure_links() as Bootstrap; plan_of() and put_in_order() by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/link_facts.hpp"
#include "base/network.hpp"
#include "job/bootstrap.hpp"
#include "transport/stripes/stripes.hpp"

namespace urakata::job {

// An element for each pair of sites, row by row; the same in both directions. std::nullopt: not known.
using LinkTable = std::vector<std::optional<LinkFacts>>;

struct LinkRates {
  LinkTable of;                      // at least one link is known
  std::vector<std::uint32_t> nodes;  // number of nodes of each site
};

// Whether two ranks have transport `stripes` between them; the same on all ranks.
using HaveStripes = std::function<bool(std::int32_t, std::int32_t)>;

// How long links are measured. A pair of ranks first sends until TCP's windows have grown (*settling*), then goes on
// while the arriving bytes are counted. Each of the two parts takes a few round trips and at least `least_s`, but no
// more than half of `most_bytes`. `most_s` is the limit for all links together. If the limit allows, all links are
// counted twice as long, so that a rank or router that is off its core for 10 ms matters less. If the limit does not
// suffice, a link first gets fewer round trips. Next, two nodes are taken to carry what all nodes do. At last, the link
// is left to a later job.
struct LinkProbe {
  double least_s = 0.07;
  std::uint64_t most_bytes = 64UL * 1024 * 1024;
  double most_s = 2;
};

// What is left to measure before a link, this link among them.
struct LinksLeft {
  std::size_t links;
  double seconds;  // for all links left
  bool first;      // whether no link has been measured yet
};

// How one link is measured.
struct LinkPlan {
  double settling_s = 0, counted_s = 0;  // of each turn
  std::uint32_t turns = 3;               // one connection; two nodes; all nodes. 2: the turn of two nodes is left out
  double seconds = 0;                    // of all turns
};
// The plan for a link. std::nullopt: the time left does not suffice. The first link always has a plan, if need be with
// less time than it should have.
std::optional<LinkPlan> plan_of(double round_trip_s, const LinksLeft& left, const LinkProbe& probe);

// Corrects measured rates so that two nodes carry no less than one connection, and all nodes no less than two.
void put_in_order(LinkFacts& facts);

// Completes `known` by measurements. Collective over the job; the same result on each rank. A link that is not known
// takes some forty round trips, at least 0.5 s, but all links together no more than about probe.most_s. It is measured
// with one connection between two nodes, with kMostStreams connections between them, and with as many pairs of nodes as
// the smaller site has nodes. Once, the pairs of nodes inside each site are measured, too, all at the same time, for
// some 0.14 s. `nodes`: as Job::nodes(). A link without stripes is not measured and stays unknown.
//
// Loss is counted only while it is the link's own: windows have grown, and several connections carry as much together
// as if each were alone. Otherwise too many connections, or windows that are too large, lose packets that the link
// itself would not lose. std::nullopt: there is one site, nothing is known, the MPI library reports an error, or
// stripes were lost. If a link was measured, set_streams() was last called with kMostStreams, and the connections that
// have measured are closed.
std::optional<LinkRates> measure_links(Bootstrap& world, transport::Stripes& stripes, const Sites& sites,
                                       std::span<const std::int32_t> nodes, const HaveStripes& have_stripes,
                                       const LinkTable& known, const LinkProbe& probe = {});

}  // namespace urakata::job
