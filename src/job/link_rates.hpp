// SPDX-License-Identifier: BSD-3-Clause
// What the links between the job's sites carry, for the choice of lanes and connections: known from before
// (known_rates.hpp), or measured in MPI_Init.
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

// Of each pair of sites, row by row; the same both ways. std::nullopt: not known.
using LinkTable = std::vector<std::optional<LinkFacts>>;

struct LinkRates {
  LinkTable of;                      // some is known
  std::vector<std::uint32_t> nodes;  // of each site, how many it has
};

// Have two ranks stripes between them? On all ranks alike.
using HaveStripes = std::function<bool(std::int32_t, std::int32_t)>;

// A pair sends until TCP's windows have grown, and then goes on while what arrives is counted: each as long as a few
// round trips and `least_s`, but no more than half of `most_bytes`. `most_s`: for all links together. Where all of them
// have the time, twice as long is counted: a rank or a router that is off its core for 10 ms is a part of it. Where
// they would take longer than `most_s`, round trips are fewer, then what two nodes carry is taken to be what all do,
// and then links are left for the next job.
struct LinkProbe {
  double least_s = 0.07;
  std::uint64_t most_bytes = 64UL * 1024 * 1024;
  double most_s = 2;
};

// What is left to measure, this link among them.
struct LinksLeft {
  std::size_t links;
  double seconds;  // for all of them
  bool first;      // none has been measured
};

// How a link is measured, from its round trip in s and what is left. At least one link is, if in less time than it
// should have; others are std::nullopt where that does not suffice.
struct LinkPlan {
  double settling_s = 0, counted_s = 0;  // of each of
  std::uint32_t turns = 3;               // one connection, two nodes, all; 2: without two nodes
  double seconds = 0;                    // in all
};
std::optional<LinkPlan> plan_of(double round_trip_s, const LinksLeft& left, const LinkProbe& probe);

// Makes two nodes carry no less than one connection, and all no less than two, as they do.
void put_in_order(LinkFacts& facts);

// Collective over the job; the same on each rank. Takes some forty round trips for each pair of sites that is not
// known, at least 0.5 s, but no more than probe.most_s in all: by one connection between two nodes, by as many as there
// may be between them, and by those of all nodes that the smaller site has; and once, where a site has two nodes, 0.14
// s inside, all of its nodes at a time, two by two. `nodes`: as Job::nodes(). What has no stripes is not measured, and
// not known then.
//
// Loss is counted where it is the link's own: while connections carry together what one alone does so many times,
// windows have grown, and least is lost. More of them than the link holds, and windows that still grow or have grown
// too far, lose packets that they would not miss later. nullopt: there is one site, nothing is known, the MPI library
// refuses, or stripes were lost. Where something was measured set_streams() is at its most afterwards, and the
// connections that have measured are closed.
std::optional<LinkRates> measure_links(Bootstrap& world, transport::Stripes& stripes, const Sites& sites,
                                       std::span<const std::int32_t> nodes, const HaveStripes& have_stripes,
                                       const LinkTable& known, const LinkProbe& probe = {});

}  // namespace urakata::job
