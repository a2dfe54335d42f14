// SPDX-License-Identifier: BSD-3-Clause
#include "shim/sites/between_sites.hpp"

#include <set>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/options/options.hpp"
#include "lanes/lanes.hpp"
#include "lanes/site_placement.hpp"
#include "shim/process/allocation_count.hpp"
#include "shim/sites/site_links.hpp"
#include "transport/stripes/stripes.hpp"
#include "tune/lanes_choice.hpp"

namespace urakata::shim {

namespace {

using collectives::Operation;

// Keeps a text of the report for ever, and each text once.
std::string_view kept(std::string text) {
  static Mutex lock;
  static auto* texts = new std::set<std::string, std::less<>>;
  const LockGuard guard(lock);
  return *texts->insert(std::move(text)).first;
}

std::vector<Streams> streams_of(Operation operation, const collectives::Arguments& arguments,
                                const lanes::Placement& placement, std::uint32_t lanes) {
  return tune::choose_streams(operation, arguments, placement, link_between, lanes, transport::Stripes::kFirstFlight);
}

}  // namespace

std::string why_not_between_sites() { return ""; }

std::shared_ptr<const lanes::Placement> placement_at_sites(std::span<const std::int32_t> sites,
                                                           std::span<const std::int32_t> nodes) {
  return std::make_shared<const lanes::Placement>(sites, nodes);
}

bool exchange_gains_between_sites(const lanes::Placement& placement) {
  return tune::exchange_gains(placement, link_between);
}

BetweenSites between_sites(Operation operation, const collectives::Arguments& arguments,
                           const lanes::Placement& placement) {
  BetweenSites found;
  if (!lanes::covers(operation, arguments.commutative, placement)) {
    found.algorithm = tune::default_between_sites(operation);
    if (found.algorithm.empty()) return found;
    found.why = "between sites: once over each link, in one delay";
    if (any_link_known()) {
      found.why =
          kept(std::string(found.why) + tune::predicted_without_lanes(operation, arguments, placement, link_between));
      if (collectives::is_rooted(operation)) found.streams = streams_of(operation, arguments, placement, 0);
    }
    return found;
  }
  collectives::Arguments given = arguments;
  given.segment = options().segment;
  tune::LanesChoice chosen = tune::choose_lanes(operation, given, placement, link_between, options().lanes);
  count_allocation();
  auto built = lanes::build(operation, given, placement, chosen.lanes);
  if (!built.ok()) {
    log::warning("%s; it goes as within one site", built.error().message.c_str());
    return found;
  }
  found.schedule = std::make_shared<const schedule::Schedule>(std::move(*built));
  found.name = chosen.lanes == 0 ? "straight" : kept("lanes " + std::to_string(chosen.lanes));
  found.why = kept(std::move(chosen.why));
  if (any_link_known()) found.streams = streams_of(operation, arguments, placement, chosen.lanes);
  return found;
}

}  // namespace urakata::shim
