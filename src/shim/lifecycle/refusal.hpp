// SPDX-License-Identifier: BSD-3-Clause
// What would make a whole job useless ends it in MPI_Init, before the program's own work begins.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "job/bootstrap.hpp"

namespace urakata::shim {

// Says the message and ends the job with exit code 2. After the MPI library's MPI_Init.
[[noreturn]] void refuse_job(const std::string& message);

// Collective. Ends the job likewise where a rank has a message; which of them is said by whom: job/shared_lines.hpp.
void refuse_together(job::Bootstrap& world, std::span<const std::int32_t> nodes, const std::string& message);

}  // namespace urakata::shim
