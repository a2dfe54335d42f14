// SPDX-License-Identifier: BSD-3-Clause
// Ends the whole job with a message: in MPI_Init, for what would make the job useless, or later, after an error that no
// call can return (terminate.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "job/bootstrap.hpp"

namespace urakata::shim {

// Prints the message and ends the job with exit code 2. After the MPI library's MPI_Init.
[[noreturn]] void refuse_job(const std::string& message);

// Collective. Ends the job in the same way if the message of any rank is not empty. Which ranks print which messages:
// job/shared_lines.hpp.
void refuse_together(job::Bootstrap& world, std::span<const std::int32_t> nodes, const std::string& message);

}  // namespace urakata::shim
