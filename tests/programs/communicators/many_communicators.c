// SPDX-License-Identifier: BSD-3-Clause
// Keeps many communicators and persistent collectives at once, all of them with operations under way, and makes them
// anew after some are freed: each result must be right, whoever performs it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "features.h"

enum { COMMUNICATORS = 24, INITS = 12, ROUNDS = 3 };

static int wrong;

static void expect(long got, long wanted, const char* what, int which) {
  if (got == wanted) return;
  ++wrong;
  fprintf(stderr, "many_communicators: %s %d: %ld instead of %ld\n", what, which, got, wanted);
}

// The k-th communicator: duplicates, halves, and duplicates of the one before, in turn. On ranks of none: null.
static MPI_Comm make(MPI_Comm before, int k, int rank) {
  MPI_Comm made = MPI_COMM_NULL;
  switch (k % 4) {
    case 0:
      MPI_Comm_dup(MPI_COMM_WORLD, &made);
      break;
    case 1:
      MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made);
      break;
    case 2:
      if (before != MPI_COMM_NULL) MPI_Comm_dup(before, &made);
      break;
    default:
      MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &made);
  }
  return made;
}

static void all_at_once(MPI_Comm* comms, int rank) {
  static long in[COMMUNICATORS], out[COMMUNICATORS], wanted[COMMUNICATORS];
  MPI_Request requests[COMMUNICATORS];
  for (int k = 0; k < COMMUNICATORS; ++k) {
    requests[k] = MPI_REQUEST_NULL;
    if (comms[k] == MPI_COMM_NULL) continue;
    in[k] = 1000 * k + rank;
    MPI_Allreduce(&in[k], &wanted[k], 1, MPI_LONG, MPI_SUM, comms[k]);
    MPI_Iallreduce(&in[k], &out[k], 1, MPI_LONG, MPI_SUM, comms[k], &requests[k]);
  }
  MPI_Waitall(COMMUNICATORS, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < COMMUNICATORS; ++k) {
    if (comms[k] != MPI_COMM_NULL) expect(out[k], wanted[k], "communicator", k);
  }
}

static void persistent_at_once(MPI_Comm comm, int rank, int size) {
#if HAVE_PERSISTENT
  static long in[INITS], out[INITS];
  MPI_Request requests[INITS];
  for (int k = 0; k < INITS; ++k) {
    PERSISTENT(Allreduce)(&in[k], &out[k], 1, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &requests[k]);
  }
  for (int start = 0; start < 3; ++start) {
    for (int k = 0; k < INITS; ++k) in[k] = 100 * start + k + rank;
    MPI_Startall(INITS, requests);
    MPI_Waitall(INITS, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < INITS; ++k) {
      expect(out[k], (100L * start + k) * size + size * (size - 1L) / 2, "persistent", k);
    }
  }
  for (int k = 0; k < INITS; ++k) MPI_Request_free(&requests[k]);
#else
  (void)comm, (void)rank, (void)size;
#endif
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comms[COMMUNICATORS];
  for (int round = 0; round < ROUNDS; ++round) {
    for (int k = 0; k < COMMUNICATORS; ++k) comms[k] = make(k != 0 ? comms[k - 1] : MPI_COMM_NULL, k, rank);
    all_at_once(comms, rank);
    persistent_at_once(MPI_COMM_WORLD, rank, size);
    for (int k = 0; k < COMMUNICATORS; k += 2) {
      if (comms[k] != MPI_COMM_NULL) MPI_Comm_free(&comms[k]);
    }
    all_at_once(comms, rank);
    for (int k = 1; k < COMMUNICATORS; k += 2) {
      if (comms[k] != MPI_COMM_NULL) MPI_Comm_free(&comms[k]);
    }
  }
  MPI_Finalize();
  if (wrong == 0 && rank == 0) printf("many_communicators: right\n");
  return wrong != 0;
}
