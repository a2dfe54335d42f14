// SPDX-License-Identifier: BSD-3-Clause
// Errors of system calls. Thread-safety: any thread.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "base/result.hpp"

namespace urakata {

// The error of a failed system call: what was being done, and the text for `code`, an errno value.
inline Error system_error(const std::string& doing, int code = errno) {
  return Error{doing + ": " + std::strerror(code)};
}

}  // namespace urakata
