// The numbers of each communicator that Urakata may carry: its own, and those for what is made from it.
//
// Known are MPI_COMM_WORLD and what the program makes from known communicators by blocking calls, or by
// MPI_Comm_create_group and MPI_Intercomm_merge where all ranks are in MPI_COMM_WORLD. All others are the host's on
// every rank: those of MPI_Comm_idup (its call must not wait, and its ranks are not in it together), of sessions, of
// MPI_COMM_SELF (one rank), with ranks of other jobs, intercommunicators, and what is made from any of these.
//
// Thread-safety: as job/contexts.hpp.
#pragma once

#include <memory>

#include "job/contexts.hpp"
#include "shim/abi.hpp"

namespace urakata::shim {

struct Kin {
  job::Place place;  // until the communicator's first collective takes it over
  std::shared_ptr<job::Family> family;
};

// MPI_COMM_WORLD, with `contexts` numbers in the tags. Once, in MPI_Init.
void open_world_kin(std::int32_t contexts);

// A call that all of the parent's ranks are in has made a communicator; MPI_COMM_NULL where this rank is not in it.
void note_child(MPI_Comm parent, MPI_Comm made);
// A call that only its own ranks are in.
void note_made(MPI_Comm made);

Kin* kin_of(MPI_Comm handle);  // nullptr: the communicator is the host's
void forget_kin(MPI_Comm handle);

// A place for a persistent collective on the communicator of that family. Collective.
job::Place next_place(MPI_Comm handle, job::Family& family);

}  // namespace urakata::shim
