// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a job settle at which sites they are, as option SITES says.
#pragma once

#include <string_view>

#include "base/network.hpp"
#include "base/result.hpp"
#include "job/bootstrap.hpp"

namespace urakata::job {

// Collective, and the same on each rank, the error too. `wish`: option SITES (job/site_list.hpp); where it names a
// list, the one that rank 0 reads is that of all, since the others may not have the file. `host_name`: of this node.
Result<Sites> settle_sites(Bootstrap& world, const Network& network, std::string_view wish, std::string_view host_name);

}  // namespace urakata::job
