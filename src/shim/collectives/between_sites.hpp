// SPDX-License-Identifier: BSD-3-Clause
// Schedules of communicators whose ranks are at several sites.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/link_facts.hpp"
#include "collectives/collectives.hpp"
#include "lanes/site_placement.hpp"
#include "schedule/schedule.hpp"

namespace urakata::shim {

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

}  // namespace urakata::shim
