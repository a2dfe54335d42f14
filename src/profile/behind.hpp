// SPDX-License-Identifier: BSD-3-Clause
// Urakata's own library, which is behind the profile's.
//
// Thread-safety: by any thread.
#pragma once

#include "observe/profile_link.hpp"

namespace urakata::profile {

const observe::ProfileLink& behind();

// A function of MPI's as Urakata, or else the MPI library, has it; by its name without MPI_.
template <class Type>
Type find(const char* name) {
  return reinterpret_cast<Type>(behind().find(name));
}

}  // namespace urakata::profile
