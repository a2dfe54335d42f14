// SPDX-License-Identifier: BSD-3-Clause
// Reads the TOML file with options. Its keys are the options' names in lower case; `algorithm` may be a table by
// operation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/options/options.hpp"
#include "base/result.hpp"

namespace urakata {

// An option with a value, from any source.
struct Setting {
  const Option* option = nullptr;
  std::string value;
  std::string origin;  // "command line", or "job.toml:3"
};

// Error: path, line and what is wrong. An unknown key, a value of the wrong type and an invalid value are errors.
Result<std::vector<Setting>> read_config_file(const std::string& path, AlgorithmCheck algorithm_check);

}  // namespace urakata
