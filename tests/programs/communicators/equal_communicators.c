// SPDX-License-Identifier: BSD-3-Clause
// Starts the same collectives on many communicators of one shape, some alive at once, some after others: only the first
// builds schedules. Says so on rank 0, or what was built; results are checked, also on communicators of another order.
#include <mpi.h>
#include <stdio.h>
#include <urakata.h>

#include "../../../src/shim/user/measuring.h"

enum { COMMUNICATORS = 40, ALIVE = 3, KINDS = 3, MOST = 16 };

static int wrong;

// The result: what Urakata has allocated for the starts.
static unsigned long long start_all(MPI_Comm comm, int ranks) {
  int rank, sum = 0, from[MOST];
  MPI_Request requests[KINDS];
  MPI_Comm_rank(comm, &rank);
  const unsigned long long before = urakata_internal_allocations();
  MPI_Ibarrier(comm, &requests[0]);
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
  MPI_Iallgather(&rank, 1, MPI_INT, from, 1, MPI_INT, comm, &requests[2]);
  const unsigned long long made = urakata_internal_allocations() - before;
  MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE);
  wrong += sum != ranks * (ranks - 1) / 2;
  for (int i = 0; i < ranks; ++i) wrong += from[i] != i;
  return made;
}

// Other collectives, so that all requests are there.
static void warm_up(void) {
  int in = 1, out[KINDS];
  MPI_Request requests[KINDS];
  for (int i = 0; i < KINDS; ++i) MPI_Iscan(&in, &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  int rank, ranks, failed;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!ura_available() || ranks > MOST) MPI_Abort(MPI_COMM_WORLD, 2);

  warm_up();
  MPI_Comm alive[ALIVE];
  unsigned long long first = 0;
  for (int i = 0; i < COMMUNICATORS; ++i) {
    if (i >= ALIVE) MPI_Comm_free(&alive[i % ALIVE]);
    MPI_Comm_dup(MPI_COMM_WORLD, &alive[i % ALIVE]);
    const unsigned long long made = start_all(alive[i % ALIVE], ranks);
    if (i == 0) first = made;
    if (i != 0 && first - made != KINDS) {
      ++wrong;
      fprintf(stderr, "equal_communicators: %llu allocations on communicator %d, %llu on the first\n", made, i, first);
    }
  }
  for (int i = 0; i < ALIVE; ++i) MPI_Comm_free(&alive[i]);

  for (int shift = 0; shift < ranks; ++shift) {
    MPI_Comm shifted;
    MPI_Comm_split(MPI_COMM_WORLD, 0, (rank + shift) % ranks, &shifted);
    start_all(shifted, ranks);
    MPI_Comm_free(&shifted);
  }
  MPI_Allreduce(&wrong, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && failed == 0) printf("equal_communicators: built once\n");
  MPI_Finalize();
  return failed != 0;
}
