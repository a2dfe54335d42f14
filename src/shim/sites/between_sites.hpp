// SPDX-License-Identifier: BSD-3-Clause
// What the core asks of the component for collectives between sites (URAKATA_SITES). This is the whole interface. A build without
// the component has sites_not_built.cpp in its place: the job then has one site, wherever its nodes are.
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

// Why jobs have no collectives between sites; empty: they have.
std::string why_not_between_sites();

// Where the ranks of a group are. `sites` and `nodes`: of each rank, as numbers. Not nullptr where there are several
// sites.
std::shared_ptr<const lanes::Placement> placement_at_sites(std::span<const std::int32_t> sites,
                                                           std::span<const std::int32_t> nodes);

// The schedule of a collective of ranks at several sites.
struct BetweenSites {
  std::shared_ptr<const schedule::Schedule> schedule;  // nullptr: one of the algorithms without sites
  std::string_view name;                               // of the schedule, as the report shows it; lives for ever
  std::string_view algorithm;  // where there is no schedule; empty: the one that is chosen without sites
  std::string_view why;
  std::vector<Streams> streams;  // of its messages to each site, by the job's numbers; empty: as many as there are
};
// From what is equal on all ranks.
BetweenSites between_sites(collectives::Operation operation, const collectives::Arguments& arguments,
                           const lanes::Placement& placement);

// Do blocking exchanges of all ranks with all gain by several connections for a pair of ranks?
// (tune/lanes_choice.hpp)
bool exchange_gains_between_sites(const lanes::Placement& placement);

// Several connections between ranks at different sites, in MPI_Init. nullptr, on all ranks alike: there are none. What
// is returned lives as long as the process. Collective.
transport::Stripes* open_stripes(transport::Failures& failures);
// Waits until the other sites have received all that was sent to them, or the stripes are lost, and calls `step`
// meanwhile to move everything else. Collective.
void settle_stripes(const std::function<void()>& step);
void judge_links();  // drops rates of links that this job has found to be wrong; collective

// Where the job's nodes are, and what this rank has sent to other sites.
observe::Meta::Sites report_of_sites();

}  // namespace urakata::shim
