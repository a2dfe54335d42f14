// What urakata-exec says of itself: --help, --version and --info.
#pragma once

#include <string>

namespace urakata {

std::string help_text();
// Every option with its value in force, origin, default and sentence; from the environment as it is now.
std::string options_table();
// The same as a JSON array of objects.
std::string options_json();

}  // namespace urakata
