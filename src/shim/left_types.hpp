// Handles of datatypes whose last user was a helper: it may not enter the host, so a thread of the program frees them.
//
// Thread-safety: leave_type() by any thread, free_left_types() by those that may call the host.
#pragma once

#include <atomic>

#include "shim/abi.hpp"

namespace urakata::shim {

void leave_type(MPI_Datatype handle);

extern constinit std::atomic<bool> types_left;  // relaxed: nothing is read on its word alone
void free_types_that_are_left();
inline void free_left_types() {
  if (types_left.load(std::memory_order_relaxed)) free_types_that_are_left();
}

}  // namespace urakata::shim
