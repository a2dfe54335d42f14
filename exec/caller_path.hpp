// PATH as the user's shell had it where `urakata run` was called. Launchers put their own folder before it, and Open MPI's
// remote daemons have another one altogether.
#pragma once

#include <string>
#include <string_view>

namespace urakata {

// The variable by which `urakata run` hands it on (python/urakata/caller_path.py).
inline constexpr const char* kCallerPathVariable = "URAKATA_CALLER_PATH";

// The caller's folders first, then those that the launcher has added, each once.
std::string joined_path(std::string_view of_caller, std::string_view of_launcher);

// Puts the caller's PATH in force and takes the variable away, so that a urakata-exec which the program starts itself
// leaves alone what the program has set. Without the variable, PATH stays as it is.
void restore_caller_path();

}  // namespace urakata
