// SPDX-License-Identifier: BSD-3-Clause
// Which nodes of a job are at which site (Sites in base/network.hpp): by the round trips between them, or as option
// SITES says.
//
// All functions depend only on arguments that are equal on all ranks, so all ranks get the same result. Thread-safety:
// any thread.
#pragma once

#include <span>
#include <string>

#include "base/network.hpp"
#include "base/result.hpp"
#include "job/site_list.hpp"

namespace urakata::job {

// The sites by round trips. Round trips below kLan count as kLan, since they differ by noise and not by distance. There
// is a gap before a round trip that is at least kGap times as long as the next shorter one, or as kLan if there is
// none. Nodes joined by round trips below a gap form a site. The widest gap is used for which no two nodes of a site
// have a round trip beyond the gap. Without such a gap there is one site, also if no round trips are known.
Sites found_sites(const Network& network);
inline constexpr std::uint32_t kLan = 250;  // us
inline constexpr double kGap = 4;

// The sites as the list says. host_names[node]. The error begins with the place in the list that it is about.
Result<Sites> given_sites(const SiteList& list, std::span<const std::string> host_names, const Network& network);

// A sentence if nodes of two sites reach each other over TCP in one direction only, and no two nodes of these sites in
// both; it names the first such pair of nodes. Empty: there is none. (If other pairs do reach each other, a probe may
// just have been lost.)
std::string one_way_link(const Sites& sites, const Network& network);

// The sites for the tables of `urakata check` and of the report: "2 sites (left: 4 nodes, right: 4 nodes): " and why.
std::string described(const Sites& sites, const Network& network);

}  // namespace urakata::job
