// What the links between the job's sites carry: known from the file of option LINK_RATES, or measured in MPI_Init.
#pragma once

#include <vector>

#include "base/link_facts.hpp"
#include "base/network.hpp"
#include "job/bootstrap.hpp"
#include "observe/report.hpp"
#include "transport/lanes.hpp"

namespace urakata::shim {

// Of the slowest link between the job's sites; nullptr: not known.
const LinkFacts* slowest_link();

// Collective, in MPI_Init. Sets the number of the lanes' connections to what fills the slowest link. What had to be measured
// rank 0 adds to the file, if there is one.
void learn_links(job::Bootstrap& world, transport::Lanes& lanes, const Sites& sites,
                 std::span<const std::int32_t> nodes);

// Collective, in MPI_Finalize, and nothing where there is no file: did the links carry what it says? If not, rank 0 says
// so and notes it there, and the next job measures them.
void judge_links(job::Bootstrap& world, transport::Lanes& lanes, const Sites& sites);

std::vector<observe::Meta::Sites::Link> report_of_links(const Sites& sites);

}  // namespace urakata::shim
