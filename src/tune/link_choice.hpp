// SPDX-License-Identifier: BSD-3-Clause
// Whether a helper moves the program's own messages between nodes. A function of its argument, as all decisions.
#pragma once

#include "tune/engine_choice.hpp"

namespace urakata::tune {

// Where engine thread or kernel would have helpers. It needs no calls of the host's by several threads.
bool link_has_helper(const RunFacts& facts);

}  // namespace urakata::tune
