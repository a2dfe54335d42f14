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

// False where the MPI library must be the one to complain, or to perform the call. Allocates nothing once the thread
// has read a call as large.
bool read_call(const Call& call, Communicator& comm, Reading& reading);

// What the call's schedule is built by; the per-rank entries are the reading's own.
collectives::Arguments arguments_of(const Reading& reading, const Communicator& comm);

}  // namespace urakata::shim
