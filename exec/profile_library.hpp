// The preload library that times all of a program's MPI calls, in front of Urakata's own.
#pragma once

#include <string>

#include "mpi_need.hpp"

namespace urakata {

// Its path in `folder`; empty where no report is asked for, or there is none for this MPI.
std::string profile_library(Abi abi, const std::string& folder);

}  // namespace urakata
