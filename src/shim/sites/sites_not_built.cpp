// SPDX-License-Identifier: BSD-3-Clause
// The interface to the component for collectives between sites, in a build without it (URAKATA_SITES=OFF).
#include "shim/sites/between_sites.hpp"

namespace urakata::shim {

std::string why_not_between_sites() {
  return "the job's nodes are at several sites, and this build has no collectives between sites (URAKATA_SITES=OFF)";
}

std::shared_ptr<const lanes::Placement> placement_at_sites(std::span<const std::int32_t>,
                                                           std::span<const std::int32_t>) {
  return nullptr;
}

BetweenSites between_sites(collectives::Operation, const collectives::Arguments&, const lanes::Placement&) {
  return {};
}

bool exchange_gains_between_sites(const lanes::Placement&) { return false; }

observe::Meta::Sites report_of_sites() { return {}; }

transport::Stripes* open_stripes(transport::Failures&) { return nullptr; }
void settle_stripes(const std::function<void()>&) {}
void judge_links() {}

}  // namespace urakata::shim
