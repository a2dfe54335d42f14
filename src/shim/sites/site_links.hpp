// SPDX-License-Identifier: BSD-3-Clause
// What the links between the job's sites carry: known from the file of option LINK_RATES, or measured in MPI_Init.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/network.hpp"
#include "job/bootstrap.hpp"
#include "job/link_rates.hpp"
#include "lanes/model.hpp"
#include "observe/report.hpp"
#include "transport/stripes/stripes.hpp"

namespace urakata::shim {

// Between two of the job's sites; nullptr: not known.
const LinkFacts* link_between(std::int32_t one, std::int32_t other);
bool any_link_known();

// Collective, in MPI_Init. Sets the number of stripes to a rank to what fills the link to its site. What had
// to be measured rank 0 adds to the file, if there is one.
void learn_links(job::Bootstrap& world, transport::Stripes& stripes, const Sites& sites,
                 std::span<const std::int32_t> nodes, const job::HaveStripes& have_stripes);

// Collective, in MPI_Finalize, and nothing where there is no file: did the links carry what it says? If not, rank 0
// says so and notes it there, and the next job measures them.
void judge_links(job::Bootstrap& world, transport::Stripes& stripes, const Sites& sites);

std::vector<observe::Meta::Sites::Link> report_of_links(const Sites& sites);

}  // namespace urakata::shim
