// SPDX-License-Identifier: BSD-3-Clause
// Knows the names of algorithms, so that option ALGORITHM is checked before the program starts.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace urakata {

// An AlgorithmCheck (base/options/options.hpp). An empty `operation` stands for any. Error: the valid names.
Status known_algorithm(std::string_view operation, std::string_view algorithm);

}  // namespace urakata
