// SPDX-License-Identifier: BSD-3-Clause
// Errors of system calls. Thread-safety: any thread.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "base/result.hpp"

namespace urakata {

// A call has failed: what was being done, and what errno says of it.
inline Error system_error(const std::string& doing, int code = errno) {
  return Error{doing + ": " + std::strerror(code)};
}

}  // namespace urakata
