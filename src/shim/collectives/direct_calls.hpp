// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives of a communicator whose ranks share a space: on the ranks' own buffers (direct/direct_collectives.hpp).
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include <string_view>

#include "direct/direct_collectives.hpp"
#include "shim/collectives/call.hpp"
#include "shim/collectives/call_reading.hpp"

namespace urakata::shim {

// The algorithm's name in reports.
inline constexpr std::string_view kDirect = "shared memory";

// Whether direct collectives can perform what has been read. The same on all ranks, if no argument is erroneous.
bool suits_direct(const Call& call, const Reading& reading, const direct::Collectives& direct);

// Whether performed_directly() may perform such a call on any communicator. Cheap.
bool may_be_direct(const Call& call);

// True: the call is performed, and `*code` is its result; the error handler has been called. False: the call goes
// another way, on all ranks alike unless an argument is erroneous on this one.
bool performed_directly(const Call& call, int* code);

}  // namespace urakata::shim
