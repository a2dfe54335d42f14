// SPDX-License-Identifier: BSD-3-Clause
// Whether a progress thread moves the program's own messages between nodes. A function of its argument, as all
// decisions.
#pragma once

#include "tune/engine_choice.hpp"

namespace urakata::tune {

// Where engine thread or kernel would have progress threads. It needs no calls of the MPI library's by several threads.
bool link_has_progress_thread(const RunFacts& facts);

}  // namespace urakata::tune
