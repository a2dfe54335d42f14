#include "shim/between_sites.hpp"

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/options.hpp"
#include "lanes/lanes.hpp"
#include "shim/prepared.hpp"
#include "shim/site_links.hpp"
#include "tune/lanes_choice.hpp"

namespace urakata::shim {

namespace {

using collectives::Operation;

// Texts of the report, each once.
std::string_view kept(std::string text) {
  static std::mutex lock;
  static auto* texts = new std::set<std::string, std::less<>>;
  const std::lock_guard guard(lock);
  return *texts->insert(std::move(text)).first;
}

}  // namespace

BetweenSites between_sites(Operation operation, const collectives::Arguments& arguments,
                           const lanes::Placement& placement) {
  BetweenSites found;
  if (!lanes::covers(operation, arguments.commutative, placement)) {
    found.algorithm = tune::default_between_sites(operation);
    if (!found.algorithm.empty()) found.why = "between sites: once over each link, in one delay";
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
  return found;
}

}  // namespace urakata::shim
