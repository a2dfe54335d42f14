// SPDX-License-Identifier: BSD-3-Clause
// The numbers of each communicator whose collectives may be Urakata's: its own, and those for what is made from it.
//
// Known are MPI_COMM_WORLD and what the program makes from known communicators by blocking calls, or by
// MPI_Comm_create_group and MPI_Intercomm_merge where all ranks are in MPI_COMM_WORLD. All others are the MPI library's
// on every rank: those of MPI_Comm_idup (its call must not wait, and its ranks are not in it together), of sessions, of
// MPI_COMM_SELF (one rank), with ranks of other jobs, intercommunicators, and what is made from any of these.
//
// Thread-safety: as job/contexts.hpp.
#pragma once

#include <cstdint>
#include <memory>

#include "job/contexts.hpp"
#include "shim/kernel/channel_sets.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

// What a communicator got when it was made.
struct CommunicatorOrigin {
  job::MemberContexts contexts;                  // its own, until the communicator's first collective takes it over
  std::shared_ptr<job::ChildContexts> children;  // for what is made from it
  KernelPartHolder kernel_part;                  // likewise; nullptr: there is none
  // The same on all its ranks, and no other communicator's, for the time line; 0: there is none.
  std::uint64_t number = 0;
};

// MPI_COMM_WORLD, with `contexts` numbers in the tags. Once, in MPI_Init.
void open_world_origin(std::int32_t contexts);
// Its channel set, once engines are there. Collective.
void open_world_channel_set();

// A call that all of the parent's ranks are in has made a communicator; MPI_COMM_NULL where this rank is not in it.
void note_child(MPI_Comm parent, MPI_Comm made);
// A call that only its own ranks are in.
void note_made(MPI_Comm made);

CommunicatorOrigin* origin_of(MPI_Comm handle);  // nullptr: the communicator is the MPI library's
void forget_origin(MPI_Comm handle);
// As withdraw_communicator() and restore_communicator() (shim/communicators/communicator.hpp), which call them.
void withdraw_origin(MPI_Comm handle);
void restore_origin(MPI_Comm handle);

// Contexts for a persistent collective on the communicator, whose children these are. Collective.
job::MemberContexts next_contexts(MPI_Comm handle, job::ChildContexts& children);

}  // namespace urakata::shim
