// SPDX-License-Identifier: BSD-3-Clause
// Two ranks: rank 1 receives a broadcast while the test keeps what it answers from rank 0, and goes on to MPI_Finalize.
// Files in the folder argv[1]: works.RANK says that the ranks wait for cut.0, which the test makes.
#include <mpi.h>
#include <stdio.h>

#include "meeting_files.h"

enum { COUNT = 1 << 16 };  // numbers: enough that more has gone by the lanes than by whatever else joins the two hosts

static int values[COUNT];

static void broadcast(int count) {
  MPI_Request request;
  MPI_Ibcast(values, count, MPI_INT, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank;
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 40; ++i) broadcast(COUNT);
  MPI_Barrier(MPI_COMM_WORLD);
  say(argv[1], "works", rank);
  wait_for_all(argv[1], "cut", 1);
  if (rank == 0) values[0] = 17;
  broadcast(1);
  printf("rank %d has %d\n", rank, values[0]);
  MPI_Finalize();
  return 0;
}
