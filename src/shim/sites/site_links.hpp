// SPDX-License-Identifier: BSD-3-Clause
// What the links between the job's sites carry: known from the file of option LINK_RATES, or measured in MPI_Init.
//
// Thread-safety: learn_links() and judge_links() by the thread that calls MPI_Init and MPI_Finalize; the rest by any
// thread, after learn_links().
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

// The link between two of the job's sites, by their numbers; nullptr: it is not known.
const LinkFacts* link_between(std::int32_t one, std::int32_t other);
bool any_link_known();

// Collective, in MPI_Init. Sets the number of stripes to each rank at another site to what fills the link to that site.
// Rank 0 adds rates that had to be measured to the file, if there is one. `nodes`: by rank, the number of its node.
void learn_links(job::Bootstrap& world, transport::Stripes& stripes, const Sites& sites,
                 std::span<const std::int32_t> nodes, const job::HaveStripes& have_stripes);

// Collective, in MPI_Finalize: compares what the links have carried with the rates. For each wrong rate rank 0 warns
// and marks it in the file as outdated, so that the next job measures the link. Without a file this does nothing.
void judge_links(job::Bootstrap& world, transport::Stripes& stripes, const Sites& sites);

std::vector<observe::Meta::Sites::Link> report_of_links(const Sites& sites);

}  // namespace urakata::shim
