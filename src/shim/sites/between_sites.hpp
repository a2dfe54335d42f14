// SPDX-License-Identifier: BSD-3-Clause
// The whole interface of the component for collectives between sites (URAKATA_SITES). A build without the component has
// sites_not_built.cpp in its place: the job then has one site, wherever its nodes are.
//
// Thread-safety: open_stripes(), settle_stripes() and judge_links() by the thread that calls MPI_Init and MPI_Finalize;
// the rest by any thread, after the sites are known in MPI_Init.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/link_facts.hpp"
#include "collectives/collectives.hpp"
#include "observe/report.hpp"
#include "schedule/schedule.hpp"

namespace urakata::lanes {
class Placement;
}
namespace urakata::transport {
class Failures;
class Stripes;
}  // namespace urakata::transport

namespace urakata::shim {

// Why this build has no collectives between sites; empty: it has them.
std::string why_not_between_sites();

// Where the ranks of a group are. `sites` and `nodes`: by rank, the numbers of its site and node. nullptr only in a
// build without the component.
std::shared_ptr<const lanes::Placement> placement_at_sites(std::span<const std::int32_t> sites,
                                                           std::span<const std::int32_t> nodes);

// The schedule of a collective of ranks at several sites.
struct BetweenSites {
  std::shared_ptr<const schedule::Schedule> schedule;  // nullptr: an algorithm that knows no sites is used
  std::string_view name;                               // of the schedule, as the report shows it; lives for ever
  std::string_view algorithm;  // without a schedule, the algorithm to use; empty: the one chosen within one site
  std::string_view why;
  std::vector<Streams> streams;  // connections for messages to each site, by the site's number; empty: all there are
};
// Chooses from what is equal on all ranks, and builds this rank's schedule.
BetweenSites between_sites(collectives::Operation operation, const collectives::Arguments& arguments,
                           const lanes::Placement& placement);

// Whether blocking exchanges of all ranks with all gain from several connections for each pair of ranks
// (tune/lanes_choice.hpp).
bool exchange_gains_between_sites(const lanes::Placement& placement);

// Opens several connections between ranks at different sites, in MPI_Init. Collective. nullptr: the job has one site,
// this rank has no wire, or a rank that has one could not open them. The result lives as long as the process.
transport::Stripes* open_stripes(transport::Failures& failures);
// Waits until the other sites have received all that was sent to them, or the stripes are lost, and calls `step`
// meanwhile to move everything else. Collective.
void settle_stripes(const std::function<void()>& step);
void judge_links();  // marks as outdated, in the file of LINK_RATES, rates that this job found wrong; collective

// Where the job's nodes are, and what this rank has sent to other sites.
observe::Meta::Sites report_of_sites();

}  // namespace urakata::shim
