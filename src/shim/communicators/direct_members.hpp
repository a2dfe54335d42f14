// SPDX-License-Identifier: BSD-3-Clause
// The members (direct/member.hpp) of the program's communicators whose ranks all share a space.
//
// Thread-safety: as MPI says of the call that makes the communicator.
#pragma once

#include <memory>

#include "direct/member.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

// This rank's member of a new communicator. nullptr, on all its ranks alike: they do not share a space, they are one or
// too many, their options differ, option BLOCKING forbids it, or there is no memory. Collective over `made`.
std::unique_ptr<direct::Member> open_member(MPI_Comm made);

}  // namespace urakata::shim
