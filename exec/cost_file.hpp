// SPDX-License-Identifier: BSD-3-Clause
// Reads the TOML file that option COSTS names. It has a table for each group of costs (tune/costs.hpp).
#pragma once

#include <string>

#include "base/result.hpp"

namespace urakata {

// The costs of option COSTS as a list "node.step=500,wire.segment_bytes=128K", which the preloaded library reads. A
// value with a '=' is such a list already. Any other value is the name of a file. Error: where, which cost, what is
// wrong, what to do.
Result<std::string> cost_list(const std::string& value);

}  // namespace urakata
