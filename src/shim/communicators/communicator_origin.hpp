// SPDX-License-Identifier: BSD-3-Clause
// The numbers of each communicator whose collectives Urakata may handle: its own, and those for communicators and
// persistent collectives that are made from it.
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

#include "direct/direct_collectives.hpp"
#include "job/contexts.hpp"
#include "shim/kernel/channel_sets.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

// What a communicator got when it was made.
struct CommunicatorOrigin {
  job::MemberContexts contexts;                  // its own, until the communicator's first collective takes it over
  std::shared_ptr<job::ChildContexts> children;  // for what is made from it
  KernelPartHolder kernel_part;                  // until that collective, too; nullptr: there is none
  std::unique_ptr<direct::Collectives> direct_collectives;  // until that collective, too; nullptr: there are none
  // Its number in the time line: the same on all its ranks, and of no other communicator. 0: it has none.
  std::uint64_t number = 0;
};

// Makes the origin of MPI_COMM_WORLD. `contexts`: how many contexts the tags have room for. Once, in MPI_Init.
void open_world_origin(std::int32_t contexts);
// Opens the channel set of MPI_COMM_WORLD, when the engines exist. Collective.
void open_world_channel_set();

// Opens the direct collectives of MPI_COMM_WORLD, when the endpoints exist. Collective.
void open_world_direct();

// Notes a communicator that a call of all the parent's ranks has made; MPI_COMM_NULL: this rank is not in it.
// Collective over the parent and over `made`.
void note_child(MPI_Comm parent, MPI_Comm made);
// Notes a communicator that a call of only its own ranks has made. Collective over `made`.
void note_made(MPI_Comm made);

CommunicatorOrigin* origin_of(MPI_Comm handle);  // nullptr: the communicator is the MPI library's
void forget_origin(MPI_Comm handle);
// As withdraw_communicator() and restore_communicator() (shim/communicators/communicator.hpp), which call them.
void withdraw_origin(MPI_Comm handle);
void restore_origin(MPI_Comm handle);

// The numbers for the next communicator or persistent collective that is made from `handle`; not known() if the MPI
// library refuses. `children`: of `handle`. Collective over `handle`.
job::MemberContexts next_contexts(MPI_Comm handle, job::ChildContexts& children);

}  // namespace urakata::shim
