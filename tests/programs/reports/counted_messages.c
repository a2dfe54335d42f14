// SPDX-License-Identifier: BSD-3-Clause
/* Messages whose numbers and bytes the report must know: of two ranks, ROUNDS times one of each kind to the other. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 12, LARGE = 40000 };

static char out[LARGE], in[2 * LARGE];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  int wrong = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int count;
    /* A receive with more room than comes. */
    MPI_Irecv(in, sizeof in, MPI_CHAR, other, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, LARGE, MPI_CHAR, other, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Get_count(&statuses[0], MPI_CHAR, &count);
    wrong += count != LARGE;
    if (rank == 0) {
      MPI_Send(out, 100, MPI_INT, other, 2, MPI_COMM_WORLD);
    } else {
      MPI_Recv(in, 200, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Sendrecv(out, 3, MPI_DOUBLE, other, 3, in, 8, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, 5, MPI_CHAR, MPI_PROC_NULL, 4, MPI_COMM_WORLD);
  }
  printf("rank %d: %s\n", rank, wrong == 0 ? "right" : "WRONG");
  MPI_Finalize();
  return wrong != 0;
}
