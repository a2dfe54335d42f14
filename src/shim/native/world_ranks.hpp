// SPDX-License-Identifier: BSD-3-Clause
// The members of a communicator, by their ranks in MPI_COMM_WORLD.
//
// Thread-safety: by any thread that may call the MPI library.
#pragma once

#include <cstdint>
#include <vector>

#include "shim/native/abi.hpp"

namespace urakata::shim {

// By rank of the communicator, which must be an intracommunicator. Empty: one of its ranks is not in MPI_COMM_WORLD.
std::vector<std::int32_t> world_ranks(MPI_Comm handle);

}  // namespace urakata::shim
