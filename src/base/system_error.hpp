// Errors of system calls. Thread-safety: any thread.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "base/result.hpp"

namespace urakata {

// The call just made has failed: what was being done, and what errno says.
inline Error system_error(const std::string& doing) { return Error{doing + ": " + std::strerror(errno)}; }

}  // namespace urakata
