// SPDX-License-Identifier: BSD-3-Clause
// The preload library that times all of a program's MPI calls, in front of Urakata's own.
#pragma once

#include <string>

#include "mpi_need.hpp"

namespace urakata {

// Path of that library in `folder`; empty: no report is asked for, or there is no such library for this MPI.
std::string profile_library(Abi abi, const std::string& folder);

}  // namespace urakata
