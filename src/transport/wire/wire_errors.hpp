// SPDX-License-Identifier: BSD-3-Clause
// Why a process has no transport `wire`. Thread-safety: any thread.
#pragma once

#include <string>

#include "base/system_error.hpp"

namespace urakata::transport {

inline Error no_wire(const Error& why) { return Error{why.message + "; the MPI library carries them"}; }

// A system call has failed, and errno says why.
inline Error no_wire(const char* what) {
  return no_wire(system_error(std::string("cannot ") + what + " for messages between nodes"));
}

}  // namespace urakata::transport
