// What would make a whole job useless ends it in MPI_Init, before the program's own work begins.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/launcher.hpp"
#include "job/bootstrap.hpp"

namespace urakata::shim {

// Says the message and ends the job with exit code 2. After the host's MPI_Init.
[[noreturn]] void refuse_job(const std::string& message);

// Collective. Ends the job likewise where a rank has a message; which of them is said by whom: job/shared_lines.hpp.
void refuse_together(job::Bootstrap& world, std::span<const std::int32_t> nodes, const std::string& message);

// Refuses a job whose launcher is of another family than this MPI library: each rank is then alone in a world of its
// own. `started` is what the launcher said before the host's MPI_Init, which may say more of itself.
void refuse_other_launcher(const Launcher& started);

}  // namespace urakata::shim
