// SPDX-License-Identifier: BSD-3-Clause
#include "base/launcher.hpp"

#include <cstdlib>

namespace urakata {
namespace {

// The number at the beginning of the variable's value (Slurm's "4(x2),3" gives 4); -1: there is none.
int number(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return -1;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return end == text || value < 0 || value > 1'000'000'000 ? -1 : static_cast<int>(value);
}

}  // namespace

Launcher launcher() {
  if (number("OMPI_COMM_WORLD_RANK") >= 0) {
    return {"Open MPI", number("OMPI_COMM_WORLD_RANK"), number("OMPI_COMM_WORLD_SIZE"),
            number("OMPI_COMM_WORLD_LOCAL_RANK"), number("OMPI_COMM_WORLD_LOCAL_SIZE")};
  }
  if (number("MPI_LOCALRANKID") >= 0) {
    return {"Hydra", number("PMI_RANK"), number("PMI_SIZE"), number("MPI_LOCALRANKID"), number("MPI_LOCALNRANKS")};
  }
  if (number("SLURM_PROCID") >= 0 && number("SLURM_LOCALID") >= 0) {
    const int step = number("SLURM_STEP_TASKS_PER_NODE");  // of the first node; equal on all in nearly every job
    return {"Slurm", number("SLURM_PROCID"), number("SLURM_STEP_NUM_TASKS"), number("SLURM_LOCALID"),
            step >= 0 ? step : number("SLURM_TASKS_PER_NODE")};
  }
  if (number("PMI_RANK") >= 0) return {"PMI", number("PMI_RANK"), number("PMI_SIZE"), -1, -1};
  if (number("PMIX_RANK") >= 0) return {"PMIx", number("PMIX_RANK"), -1, -1, -1};
  return {};
}

}  // namespace urakata
