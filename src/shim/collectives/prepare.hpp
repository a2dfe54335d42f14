// SPDX-License-Identifier: BSD-3-Clause
// Preparing a collective that the communicator has not seen: the choice of the algorithm, and its schedule.
#pragma once

#include "shim/collectives/call_reading.hpp"
#include "shim/communicators/communicator.hpp"

namespace urakata::shim {

// Prepares the call's collective. The communicator, which must not have it yet, keeps it. nullptr: the call falls back,
// since no algorithm suits (the reason is logged), or since the MPI library, which cannot call Urakata, is faster at a
// user-defined operation (tune::inputs_only_pays()). Allocates; throws std::bad_alloc.
Prepared* prepare(const Reading& reading, Communicator& comm);

}  // namespace urakata::shim
