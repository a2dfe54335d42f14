// SPDX-License-Identifier: BSD-3-Clause
// Combines command line, environment and config files, and passes the options to the program in the environment.
#pragma once

#include <vector>

#include "base/options/options.hpp"
#include "base/result.hpp"
#include "config_file.hpp"

namespace urakata {

// Checks every value from every source, and sets the URAKATA_* variables by precedence, and kOriginsVariable. COSTS
// becomes a list (cost_file.hpp). The config file is the one that CONFIG names, or else urakata.toml in the working
// directory. The installation's file, PREFIX/etc/urakata.toml, has lower precedence. Inside another urakata-exec the
// files are not read again.
Status apply_settings(const std::vector<Setting>& command_line, AlgorithmCheck algorithm_check);

}  // namespace urakata
