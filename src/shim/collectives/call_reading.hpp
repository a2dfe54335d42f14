// SPDX-License-Identifier: BSD-3-Clause
// Reading the call of a collective: from the program's arguments to what a schedule is built and cached by.
//
// Thread-safety: by any thread; a Reading is valid until the thread reads its next call.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/collectives.hpp"
#include "shim/collectives/call.hpp"
#include "shim/collectives/call_side.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/communicators/prepared.hpp"
#include "shim/types/operation.hpp"

namespace urakata::shim {

struct Reading {
  Key key;
  std::span<const std::uint64_t> blocks;  // the key's, of v-forms: see Prepared
  Side send;                              // both sides: of operations that only move
  Side recv;
  const Datatype* element = nullptr;  // reductions only
  Meaning meaning;
  collectives::Neighbourhood neighbours;  // of neighbourhood collectives
};

// False: the call falls back, since the MPI library must report an error in it, or has to perform it. Allocates nothing
// if the thread has read a call as large before; else it may throw std::bad_alloc.
bool read_call(const Call& call, Communicator& comm, Reading& reading);

// The arguments from which the call's schedule is built. Their per-rank entries are those of the
// reading, and valid as long.
collectives::Arguments arguments_of(const Reading& reading, const Communicator& comm);

}  // namespace urakata::shim
