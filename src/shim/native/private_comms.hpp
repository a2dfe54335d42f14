// SPDX-License-Identifier: BSD-3-Clause
// The communicators that Urakata makes in MPI_Init for its own messages, so that these never match the program's.
//
// Thread-safety: written in MPI_Init and MPI_Finalize (class Process), constant between; read by any thread between.
#pragma once

#include "shim/native/abi.hpp"

namespace urakata::shim {

// Null handles until MPI_Init makes the communicators, which it does not with engine `native`.
struct PrivateComms {
  MPI_Comm world{};  // a duplicate of MPI_COMM_WORLD
  // A communicator of this rank alone: a thread of the program may be in a collective on MPI_COMM_SELF at any time.
  MPI_Comm self{};
  MPI_Group world_group{};  // of MPI_COMM_WORLD
  int largest_tag = 32767;  // the MPI library's MPI_TAG_UB; before MPI_Init the least that the standard allows
};

extern constinit PrivateComms private_comms;

}  // namespace urakata::shim
