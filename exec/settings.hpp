// Brings command line, environment and config file together and hands the outcome to the program as environment.
#pragma once

#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "config_file.hpp"

namespace urakata {

// Checks every value, wherever it comes from, and sets the URAKATA_* variables by precedence, with kOriginsVariable.
// COSTS becomes a list (cost_file.hpp). The config file is the one that CONFIG names, or
// urakata.toml in the working directory if there is one; below it stands the installation's, PREFIX/etc/urakata.toml.
// What runs within another urakata-exec has what that one has read.
Status apply_settings(const std::vector<Setting>& command_line, AlgorithmCheck algorithm_check);

}  // namespace urakata
