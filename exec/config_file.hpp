// The TOML file with options: keys are the options' names in lower case, `algorithm` may be a table by operation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"

namespace urakata {

// An option with a value, from wherever it comes.
struct Setting {
  const Option* option = nullptr;
  std::string value;
  std::string origin;  // "command line", or "job.toml:3"
};

// Error: path, line and what is wrong; an unknown key, a value of the wrong type or an invalid value is one too.
Result<std::vector<Setting>> read_config_file(const std::string& path, AlgorithmCheck algorithm_check);

}  // namespace urakata
