// SPDX-License-Identifier: BSD-3-Clause
// Fortran programs call MPI by routines of the MPI library's own library, which call C: whoever stands in front of C
// sees those as its caller. So the profile has entry points for them, too, that only note the caller in the program.
//
// Thread-safety: all by any thread, of itself.
#pragma once

#include <atomic>

namespace urakata::profile {

// A routine, and the MPI library's of this name; found at the first call.
struct FortranRoutine {
  const char* name;  // "mpi_send_"
  std::atomic<void*> next{nullptr};
};
extern FortranRoutine fortran_routines[];  // generated; in the order of their entry points' numbers

// Where a call with this return address comes from in the program: where it comes from an MPI library's library for
// Fortran, that is whoever has called that.
const void* caller_in_program(const void* return_address);

}  // namespace urakata::profile
