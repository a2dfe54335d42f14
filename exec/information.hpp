// SPDX-License-Identifier: BSD-3-Clause
// The output of --help, --version and --info.
#pragma once

#include <string>

namespace urakata {

std::string help_text();
// A table of all options: value in force, origin, default and description. Reads the present environment.
std::string options_table();
// All options with these fields, as a JSON array of objects.
std::string options_json();

}  // namespace urakata
