// SPDX-License-Identifier: BSD-3-Clause
#include "shim/process/job_setup.hpp"

#include "shim/process/process_state.hpp"

namespace urakata::shim {

constinit const JobSetup* the_job_setup = nullptr;

engine::Engine* JobSetup::next_engine(const std::vector<std::int32_t>& world_ranks) const {
  return engines_.next(tune::by_callers(placement_, job_.same_node(world_ranks)));
}

std::vector<bool> ranks_at_other_sites() {
  const Sites& sites = job_setup().sites();
  std::vector<bool> far;
  for (const std::int32_t site : sites.of) {
    far.push_back(site != sites.of[static_cast<std::size_t>(process_state.world_rank)]);
  }
  return far;
}

}  // namespace urakata::shim
