// SPDX-License-Identifier: BSD-3-Clause
// Requests with staging buffers that the program has freed while they were active.
//
// Thread-safety: by any thread of the program.
#pragma once

#include "shim/requests/request.hpp"

namespace urakata::shim {

// The program frees an active request: a later call settles and destroys the request.
void leave_to_settle(Request& request);
// Settles all such requests that have finished. Returns whether there was one.
bool settle_left_behind();

}  // namespace urakata::shim
