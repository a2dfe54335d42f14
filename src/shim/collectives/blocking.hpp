// SPDX-License-Identifier: BSD-3-Clause
// The blocking form of a collective: from its arguments to its end, without a request of the program's.
//
// Thread-safety: as MPI says of the call.
#pragma once

#include "shim/collectives/call.hpp"

namespace urakata::shim {

// True: Urakata has performed the call, and `*code` is its result; the error handler has been called. False: nothing
// was done, and the call falls back. The decision rests on the facts of handled() and exchanged(), on options BLOCKING
// and NEIGHBORHOOD, on the sites of the ranks, and on tune::blocking_pays().
bool performed(const Call& call, int* code);

}  // namespace urakata::shim
