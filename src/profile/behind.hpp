// SPDX-License-Identifier: BSD-3-Clause
// Access to the shim, the preload library to which the profile passes the program's calls on.
//
// Thread-safety: any thread may call all functions.
#pragma once

#include "observe/profile_link.hpp"

namespace urakata::profile {

// What the shim offers to the profile. If the shim is not loaded, prints an error and aborts the process.
const observe::ProfileLink& behind();

// Urakata's definition of MPI_NAME, or else the MPI library's; nullptr: neither has one. `name` is without MPI_.
template <class Type>
Type find(const char* name) {
  return reinterpret_cast<Type>(behind().find(name));
}

}  // namespace urakata::profile
