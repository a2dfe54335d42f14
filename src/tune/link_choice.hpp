// SPDX-License-Identifier: BSD-3-Clause
// Whether a progress thread moves the program's own messages between nodes. Thread-safety: any thread.
#pragma once

#include "tune/engine_choice.hpp"

namespace urakata::tune {

// True if engine thread or kernel would have progress threads, also if the MPI library does not allow calls by several
// threads: the link's progress thread does not call it.
bool link_has_progress_thread(const RunFacts& facts);

}  // namespace urakata::tune
