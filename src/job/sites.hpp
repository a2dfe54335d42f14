// SPDX-License-Identifier: BSD-3-Clause
// Which nodes of a job are at which site (Sites in base/network.hpp): by the time of a round trip between them, or as
// option SITES says.
//
// Everything here is a function of what all ranks know alike, so all come to the same.
#pragma once

#include <span>
#include <string>

#include "base/network.hpp"
#include "base/result.hpp"
#include "job/site_list.hpp"

namespace urakata::job {

// By round trips: sites are told apart by a gap in them. Round trips below kLan count as kLan, since what lies below is
// noise of machines and not distance. The nodes that are joined by round trips below a gap of kGap (the widest such gap
// first) are a site, if then no two nodes of a site are further apart than the gap, as distances cannot be otherwise.
// Without such a gap there is one site, also where a round trip that this needs was not measured.
Sites found_sites(const Network& network);
inline constexpr std::uint32_t kLan = 250;  // us
inline constexpr double kGap = 4;           // a round trip beyond it is so many times as long as one within

// As the list says. host_names[node]. The error begins with what of the list it is about.
Result<Sites> given_sites(const SiteList& list, std::span<const std::string> host_names, const Network& network);

// Two sites of which no node has connections of ours with one of the other, since nodes reach each other in one
// direction only: one sentence of the first such pair of nodes. Empty: there are none. (Of a pair of many a probe may
// be lost.)
std::string one_way_link(const Sites& sites, const Network& network);

// As the tables of `urakata check` and of the report show it: "2 sites (left: 4 nodes, right: 4 nodes), 16.2 ms apart".
std::string described(const Sites& sites, const Network& network);

}  // namespace urakata::job
