// SPDX-License-Identifier: BSD-3-Clause
// By which schedule, and over how many connections, an operation crosses the links between sites.
//
// Thread-safety: functions of their arguments; by any thread.
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
  std::string why;          // for the report: the predicted time, and that with fewer or more lanes and connections
};

// How many connections this rank's messages to each site use, indexed by Placement::number(); {} if the link is not
// known. `lanes`: as lanes::build() takes it. `first_flight`: bytes that a connection sends before the first answer.
std::vector<Streams> choose_streams(collectives::Operation operation, const collectives::Arguments& arguments,
                                    const lanes::Placement& placement, const lanes::Links& links, std::uint32_t lanes,
                                    std::uint64_t first_flight);

// The lanes for an operation that lanes::covers(). `asked`: option LANES; 0: the fewest lanes whose predicted time is
// at most 10 % above the least one, since measured rates err by that. Depends only on facts that are equal on all
// ranks.
LanesChoice choose_lanes(collectives::Operation operation, const collectives::Arguments& arguments,
                         const lanes::Placement& placement, const lanes::Links& links, std::uint32_t asked);

// For the report: the predicted time of an operation without site leaders, or why this rank cannot predict it.
std::string predicted_without_lanes(collectives::Operation operation, const collectives::Arguments& arguments,
                                    const lanes::Placement& placement, const lanes::Links& links);

// Whether blocking exchanges of all ranks with all gain by several connections for a pair of ranks. They do not if one
// connection for each pair fills all links, as between sites of many nodes: the MPI library has these, too. True if one
// of the links is not known.
bool exchange_gains(const lanes::Placement& placement, const lanes::Links& links);

// The default algorithm of an operation that has no site leaders: each byte crosses the link once, and all messages are
// under way at once. Empty: there is none, and the operation runs as within one site.
std::string_view default_between_sites(collectives::Operation operation);

}  // namespace urakata::tune
