/* A collective of one's own: every rank gets the sum of all ranks before it and itself, of 1000 doubles, down a chain.
 *
 *     mpicc own_collective.c -o own_collective -I<prefix>/include
 *     urakata run -n 4 -- ./own_collective
 */
#include <mpi.h>
#include <stdio.h>
#include <urakata.h>

enum { COUNT = 1000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!ura_available()) {
    if (rank == 0) printf("own_collective: run me under Urakata\n");
    MPI_Finalize();
    return 0;
  }

  /* Rank r receives the sum of 0 .. r-1 in a temporary, adds it, and hands its own sum on. */
  const MPI_Count bytes = COUNT * sizeof(double);
  ura_schedule* schedule;
  int incoming = -1, in = -1, add = -1, out = -1;
  ura_begin(MPI_COMM_WORLD, 1, &schedule);
  ura_name(schedule, "prefix sum"); /* in the report */
  if (rank > 0) {
    ura_temp(schedule, bytes, &incoming);
    ura_recv(schedule, rank - 1, incoming, 0, bytes, 0, &in);
    ura_reduce(schedule, incoming, 0, 0, 0, COUNT, MPI_DOUBLE, MPI_SUM, &add);
    ura_after(schedule, in, add);
  }
  if (rank + 1 < size) {
    ura_send(schedule, rank + 1, 0, 0, bytes, 0, &out);
    if (rank > 0) ura_after(schedule, add, out);
  }
  if (ura_commit(schedule) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);

  int wrong = 0;
  for (int turn = 0; turn < 100; ++turn) {
    double first[COUNT], second[COUNT];
    for (int i = 0; i < COUNT; ++i) first[i] = rank + 1 + turn, second[i] = i;
    MPI_Request requests[2];
    ura_start(schedule, (void*[]){first}, &requests[0]); /* two at once */
    ura_start(schedule, (void*[]){second}, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COUNT; ++i) {
      wrong += first[i] != (rank + 1) * (rank + 2) / 2.0 + (rank + 1) * (double)turn;
      wrong += second[i] != (rank + 1) * (double)i;
    }
  }
  ura_free(&schedule);
  printf("rank %d: %s\n", rank, wrong == 0 ? "right" : "WRONG");
  MPI_Finalize();
  return wrong != 0;
}
// SPDX-License-Identifier: BSD-3-Clause
