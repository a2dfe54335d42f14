// The TOML file that option COSTS names: a table for each group of costs (tune/costs.hpp).
#pragma once

#include <string>

#include "base/result.hpp"

namespace urakata {

// What COSTS says as a list, "node.step=500,wire.segment_bytes=128K", which is what the preloaded library reads: of a
// value with a '=', that itself; of any other the file of that name. Error: where, which cost, what is wrong, what to
// do.
Result<std::string> cost_list(const std::string& value);

}  // namespace urakata
