// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives that only move data, on the ranks' own buffers (direct/direct_collectives.hpp).
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include "direct/direct_collectives.hpp"
#include "shim/collectives/call_reading.hpp"

namespace urakata::shim {

// `reading`: of Bcast, Gather, Scatter, Allgather, Alltoall, or one of their v- and w-forms. May throw std::bad_alloc
// before other ranks have seen anything of the call.
direct::Outcome move_directly(const Reading& reading, direct::Collectives& direct);

}  // namespace urakata::shim
