// SPDX-License-Identifier: BSD-3-Clause
// The communicators of the MPI library, made in MPI_Init, that Urakata's own messages use, so that they never meet the program's.
//
// Thread-safety: written in MPI_Init and MPI_Finalize (lifecycle/process_init.cpp), and constant between; read by any
// thread between.
#pragma once

#include "shim/native/abi.hpp"

namespace urakata::shim {

// The null handles until MPI_Init has made them, and in a run that is all the MPI library's.
struct PrivateComms {
  MPI_Comm world{};  // a duplicate of MPI_COMM_WORLD
  // That of MPI_COMM_SELF, which is the program's own: a thread of it may be in a collective there at any time.
  MPI_Comm self{};
  MPI_Group world_group{};  // of MPI_COMM_WORLD
  int largest_tag = 32767;  // of the MPI library; before MPI_Init what the standard grants
};

extern constinit PrivateComms private_comms;

}  // namespace urakata::shim
