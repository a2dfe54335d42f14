// SPDX-License-Identifier: BSD-3-Clause
// The direct collectives (direct/direct_collectives.hpp) of the program's communicators whose ranks all share a space.
//
// Thread-safety: as MPI says of the call that makes the communicator.
#pragma once

#include <memory>

#include "direct/direct_collectives.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

// This rank's direct collectives of a new communicator. nullptr, on all its ranks alike: they do not share a space, they are one or
// too many, their options differ, option BLOCKING forbids it, or there is no memory. Collective over `made`.
std::unique_ptr<direct::Collectives> open_direct(MPI_Comm made);

}  // namespace urakata::shim
