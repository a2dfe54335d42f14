/* SPDX-License-Identifier: BSD-3-Clause */
// One random collective operation of one rank: its arguments, its buffers with guards, and the judgement.
#ifndef URAKATA_TESTS_COLLECTIVE_H
#define URAKATA_TESTS_COLLECTIVE_H

#include <stdbool.h>

#include "communicators.h"
#include "operators.h"

typedef enum {
  BARRIER,
  BCAST,
  GATHER,
  GATHERV,
  SCATTER,
  SCATTERV,
  ALLGATHER,
  ALLGATHERV,
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  REDUCE,
  ALLREDUCE,
  REDUCE_SCATTER,
  REDUCE_SCATTER_BLOCK,
  SCAN,
  EXSCAN,
  OPERATIONS
} Operation;

typedef enum { BLOCKING, NONBLOCKING, NONBLOCKING_LARGE, INIT, INIT_LARGE } Form;

enum { kMaxRanks = 64 };

// Memory with room before and after what MPI may touch.
typedef struct {
  char* memory;
  size_t bytes;
  char* base;  // the address that MPI gets
} Buffer;

// One side (send or receive): a type per peer where the operation is alltoallw, one type otherwise.
typedef struct {
  Shape shape;
  Shape shapes[kMaxRanks];
  int counts[kMaxRanks];
  int displacements[kMaxRanks];
  MPI_Datatype types[kMaxRanks];
  MPI_Count large_counts[kMaxRanks];
  MPI_Aint large_displacements[kMaxRanks];
} Side;

// The handles that a call gets: those of the case, or copies that are freed while it runs. Kept until completion, as
// MPI wants it of arrays.
typedef struct {
  MPI_Comm comm;
  MPI_Op op;
  MPI_Datatype send_type, recv_type;
  MPI_Datatype send_types[kMaxRanks], recv_types[kMaxRanks];
} Handles;

typedef struct {
  Operation operation;
  Form form;
  MPI_Comm comm;
  MPI_Comm judge;  // where the operation is done again, to compare
  const char* comm_name;
  int size, rank, root;
  bool in_place;    // this rank passes MPI_IN_PLACE
  bool free_early;  // types, operation and communicator are freed while it runs
  bool reduction;
  Signature signature;
  Operator op;
  Side send, recv;
  Buffer outgoing, outgoing_before, got, expected;
  Handles handles;
  MPI_Request request;
} Collective;

const char* operation_name(Operation operation);
const char* form_name(Form form);
bool is_persistent(const Collective* c);

// What hosts do not do rightly is left out where a collective is theirs: all of them when the program is proved without
// Urakata, otherwise those on communicators of one rank, of MPI_Comm_idup and made from these.
typedef struct {
  bool early_free;  // of handles while an operation runs
  bool persistent;
  bool derived_types;
  bool user_operators;  // MPICH 5's MPI_Ireduce_scatter_block ends by a signal
  bool mostly_moving;   // draw mostly operations that engine kernel runs
  bool blocking;        // draw the blocking forms, and these only
  bool typed_in_place;  // MPI_IN_PLACE of alltoallw
} Abilities;

// Draws everything but the data. `shared` gives the same on all ranks, `local` does not.
void prepare(Collective* c, const Communicator* where, Abilities able, Random* shared, Random* local);
void fill(Collective* c, Random* local);                 // new data, before every start
void initialise(Collective* c);                          // persistent forms
void start(Collective* c);                               // of form BLOCKING, to its end
bool judge(Collective* c, char* verdict, size_t bytes);  // compares with the MPI library's blocking operation
void discard(Collective* c);

#endif
