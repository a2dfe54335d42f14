// SPDX-License-Identifier: BSD-3-Clause
// Fortran programs call routines in a Fortran library of the MPI library, and these call the C functions. For a preload
// library with C entry points alone, that Fortran library would be the caller. So the profile has entry points for the
// Fortran routines, too. They only note the caller in the program.
//
// Thread-safety: any thread; a caller is noted for the calling thread only.
#pragma once

#include <atomic>

namespace urakata::profile {

struct FortranRoutine {
  const char* name;                  // such as "mpi_send_"
  std::atomic<void*> next{nullptr};  // the MPI library's routine of this name; nullptr before the first call
};
extern FortranRoutine fortran_routines[];  // generated; in the order of their entry points' numbers

// The address in the program that an MPI call returns to. `return_address`: that of the C entry point. If it is in a
// Fortran library of MPI, the result is the caller that the Fortran entry point has noted. Forgets the noted caller, so
// each C entry point calls this function once.
const void* caller_in_program(const void* return_address);

}  // namespace urakata::profile
