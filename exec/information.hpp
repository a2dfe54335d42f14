// SPDX-License-Identifier: BSD-3-Clause
// The output of --help, --version and --info.
#pragma once

#include <string>

namespace urakata {

// With `experts` also the options for experts.
std::string help_text(bool experts);
// A table of options: value in force, origin, default and description. With `experts` also those for experts, and the
// table of costs. Reads the present environment.
std::string options_table(bool experts);
// All options, also those for experts, with these fields, as a JSON array of objects.
std::string options_json();

}  // namespace urakata
