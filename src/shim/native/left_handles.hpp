// SPDX-License-Identifier: BSD-3-Clause
// Handles of datatypes, MPI_Ops and error handlers whose last user may have been a progress thread. Such a thread may
// not call the MPI library, so a thread of the program frees the handles.
//
// Thread-safety: leave_*() by any thread; free_left_handles() and free_handles_that_are_left() by threads that may call
// the MPI library.
#pragma once

#include <atomic>

#include "shim/native/abi.hpp"

namespace urakata::shim {

void leave_type(MPI_Datatype handle);
void leave_operation(MPI_Op handle);
void leave_error_handler(MPI_Errhandler handle);

extern constinit std::atomic<bool> handles_left;  // whether there are any; relaxed: a lock guards the handles
void free_handles_that_are_left();
inline void free_left_handles() {
  if (handles_left.load(std::memory_order_relaxed)) free_handles_that_are_left();
}

}  // namespace urakata::shim
