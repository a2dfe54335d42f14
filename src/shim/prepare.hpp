// Preparing a collective that the communicator has not seen: the choice of the algorithm, and its schedule.
#pragma once

#include "shim/call_reading.hpp"
#include "shim/communicator.hpp"

namespace urakata::shim {

// The call's collective, prepared and kept by the communicator, which must not have it yet. nullptr: no algorithm suits
// (with the reason logged), the host has to do it. Allocates.
Prepared* prepare(const Reading& reading, Communicator& comm);

}  // namespace urakata::shim
