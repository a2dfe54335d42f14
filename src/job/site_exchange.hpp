// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a job settle at which sites they are, as option SITES says.
#pragma once

#include <string_view>

#include "base/network.hpp"
#include "base/result.hpp"
#include "job/bootstrap.hpp"

namespace urakata::job {

// Collective; the same result or error on each rank. `wish`: the value of option SITES (job/site_list.hpp). If the
// value gives a list, all ranks use the list that rank 0 reads, since others may not have the file. `host_name`: of
// this node.
Result<Sites> settle_sites(Bootstrap& world, const Network& network, std::string_view wish, std::string_view host_name);

}  // namespace urakata::job
