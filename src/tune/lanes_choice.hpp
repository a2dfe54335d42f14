// SPDX-License-Identifier: BSD-3-Clause
// By which schedule an operation crosses the links between sites.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/link_facts.hpp"
#include "collectives/collectives.hpp"
#include "lanes/model.hpp"
#include "lanes/site_placement.hpp"

namespace urakata::tune {

struct LanesChoice {
  std::uint32_t lanes = 0;  // as lanes::build() takes it
  std::string why;          // for the report: what it costs, and what its neighbours would
};

// How many connections this rank's messages to each site use, by the number that Placement was given for it; {} where
// the link is not known. `lanes`: as lanes::build() takes them. `first_flight`: bytes that a connection sends before
// the first answer.
std::vector<Streams> choose_streams(collectives::Operation operation, const collectives::Arguments& arguments,
                                    const lanes::Placement& placement, const lanes::Links& links, std::uint32_t lanes,
                                    std::uint64_t first_flight);

// Of an operation that lanes::covers(). `asked`: option LANES; 0: the fewest of those that cost least, as far as rates
// are known. From what is equal on all ranks.
LanesChoice choose_lanes(collectives::Operation operation, const collectives::Arguments& arguments,
                         const lanes::Placement& placement, const lanes::Links& links, std::uint32_t asked);

// For the report: the predicted time of an operation without site leaders, or why this rank cannot predict it.
std::string predicted_without_lanes(collectives::Operation operation, const collectives::Arguments& arguments,
                                    const lanes::Placement& placement, const lanes::Links& links);

// Do blocking exchanges of all ranks with all gain by several connections for a pair of ranks? Where the links are full
// by one each, as between sites of many nodes, the MPI library has them too. Where one of the links is not known: yes.
bool exchange_gains(const lanes::Placement& placement, const lanes::Links& links);

// The default algorithm of an operation without site leaders: all that crosses the link does so once, and at
// once. Empty: there is none, and the operation runs as within one site.
std::string_view default_between_sites(collectives::Operation operation);

}  // namespace urakata::tune
