// SPDX-License-Identifier: BSD-3-Clause
#include "space_environment.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/launcher.hpp"
#include "space/heap.hpp"
#include "space/registry.hpp"

namespace urakata {
namespace {

enum class When : std::uint8_t { always, unless_tuned, whole_job_here };

struct Need {
  When when;
  const char* name;
  const char* value;
};

// For what each saves see docs/use-a-space.md.
constexpr Need kPmix = {When::always, "PMIX_MCA_gds", "hash"};
constexpr std::array<Need, 9> kNeeds = {{kPmix,
                                         {When::unless_tuned, space::kMmapVariable, space::kMmapValue},
                                         {When::unless_tuned, space::kTrimVariable, space::kTrimValue},
                                         {When::always, "PMIX_MCA_pmix_max_events", "64"},
                                         {When::whole_job_here, "OMPI_MCA_pml", "ob1"},
                                         {When::whole_job_here, "OMPI_MCA_btl", "^ofi,uct,usnic,openib"},
                                         {When::whole_job_here, "OMPI_MCA_btl_tcp_free_list_num", "0"},
                                         {When::whole_job_here, "OMPI_MCA_btl_sm_free_list_num", "1"},
                                         {When::whole_job_here, "OMPI_MCA_btl_sm_free_list_inc", "8"}}};

}  // namespace

std::vector<std::string> space_environment() {
  const Launcher job = launcher();
  const bool whole_job_here = job.ranks > 0 && job.local_ranks == job.ranks;
  std::vector<std::string> all;
  const std::string kept_back =
      std::string(space::kJobVariable) + "=";  // for this process, not for what the program starts
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with(kept_back)) all.emplace_back(*entry);
  }
  for (const Need& need : kNeeds) {
    if (need.when == When::whole_job_here && !whole_job_here) continue;
    if (need.when == When::unless_tuned && std::getenv(space::kTunablesVariable) != nullptr) continue;
    if (std::getenv(need.name) == nullptr) all.push_back(std::string(need.name) + "=" + need.value);
  }
  return all;
}

void suit_space() { setenv(kPmix.name, kPmix.value, 0); }

}  // namespace urakata
