// SPDX-License-Identifier: BSD-3-Clause
// Preparing a collective that the communicator has not seen: the choice of the algorithm, and its schedule.
#pragma once

#include "shim/collectives/call_reading.hpp"
#include "shim/communicators/communicator.hpp"

namespace urakata::shim {

// The call's collective, prepared and kept by the communicator, which must not have it yet. nullptr: the MPI library
// has to do it, since no algorithm suits (with the reason logged), or none that is safe for a user's function where the
// MPI library cannot call Urakata. Allocates.
Prepared* prepare(const Reading& reading, Communicator& comm);

}  // namespace urakata::shim
