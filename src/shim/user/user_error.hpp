// SPDX-License-Identifier: BSD-3-Clause
// What a function of urakata.h does with a call that it refuses.
#pragma once

#include <string>

#include "base/log.hpp"

namespace urakata::shim {

// Logs `why` and returns `code`. Calls no error handler.
inline int user_error(const char* function, int code, const std::string& why) {
  log::error("%s: %s", function, why.c_str());
  return code;
}

}  // namespace urakata::shim
