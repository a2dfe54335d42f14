// SPDX-License-Identifier: BSD-3-Clause
// Which algorithms there are, for checking the option ALGORITHM before the program starts.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace urakata {

// An AlgorithmCheck (base/options/options.hpp). Error: the valid names.
Status known_algorithm(std::string_view operation, std::string_view algorithm);

}  // namespace urakata
