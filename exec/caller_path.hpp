// SPDX-License-Identifier: BSD-3-Clause
// Restores PATH as it was in the user's shell when `urakata run` was called. Launchers put their own folder in front of
// it, and Open MPI's daemons on other nodes have an unrelated PATH.
#pragma once

#include <string>
#include <string_view>

namespace urakata {

// The variable in which `urakata run` passes the PATH on (python/urakata/caller_path.py).
inline constexpr const char* kCallerPathVariable = "URAKATA_CALLER_PATH";

// The caller's folders, then the folders that the launcher has added, each once.
std::string joined_path(std::string_view of_caller, std::string_view of_launcher);

// Sets PATH to the caller's, and unsets the variable: a urakata-exec that the program starts itself must keep the PATH
// that the program has set. Without the variable PATH stays as it is.
void restore_caller_path();

}  // namespace urakata
