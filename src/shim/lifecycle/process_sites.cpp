// SPDX-License-Identifier: BSD-3-Clause
// The sites of the job, as this process sees them.
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/options/options.hpp"
#include "job/site_exchange.hpp"
#include "job/sites.hpp"
#include "shim/lifecycle/process.hpp"
#include "shim/lifecycle/refusal.hpp"
#include "shim/sites/between_sites.hpp"

namespace urakata::shim {

Sites Process::meet_sites(job::Bootstrap& world, const Network& network) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  Result<Sites> settled = job::settle_sites(world, network, options().sites, name.data());
  if (!settled.ok()) {
    if (world.rank() == 0) refuse_job(settled.error().message);
    for (;;) pause();  // until rank 0 has ended the job
  }
  Sites sites = std::move(*settled);
  std::string why_as_one = job::one_way_link(sites, network);
  if (why_as_one.empty() && sites.count > 1) why_as_one = why_not_between_sites();
  if (!why_as_one.empty()) {
    log::warning_of_all("%s; collectives between the sites go as within one", why_as_one.c_str());
    sites = Sites();
    sites.why = why_as_one;
  }
  sites_text_ = job::described(sites, network);
  return sites;
}

}  // namespace urakata::shim
