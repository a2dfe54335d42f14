// A collective of the program's own: a broadcast down a chain of ranks, built with urakata.h. It is started like MPI's
// non-blocking collectives, and progresses behind the computation like them.
//
//   mpicc -I include chain.c -o chain
//   urakata run -n 4 -- ./chain
#include <stdio.h>
#include <urakata.h>

enum { COUNT = 1 << 18 };

// Commits the schedule that passes buffer 0 on from rank 0 to 1, 2, ... of the communicator.
static int make_chain(MPI_Comm comm, int rank, int size, ura_schedule** chain) {
  const MPI_Count bytes = COUNT * (MPI_Count)sizeof(double);
  int in, out;
  int status = ura_begin(comm, 1, chain);
  if (status == MPI_SUCCESS && rank > 0) status = ura_recv(*chain, rank - 1, 0, 0, bytes, 0, &in);
  if (status == MPI_SUCCESS && rank + 1 < size) status = ura_send(*chain, rank + 1, 0, 0, bytes, 0, &out);
  if (status == MPI_SUCCESS && rank > 0 && rank + 1 < size) status = ura_after(*chain, in, out);
  return status == MPI_SUCCESS ? ura_commit(*chain) : status;
}

int main(int argc, char** argv) {
  static double data[COUNT];
  ura_schedule* chain;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!ura_available()) {
    if (rank == 0) fprintf(stderr, "chain: needs Urakata: urakata run -n 4 -- ./chain\n");
    MPI_Finalize();
    return 1;
  }
  if (make_chain(MPI_COMM_WORLD, rank, size, &chain) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);

  double work = 0;
  for (int turn = 1; turn <= 3; ++turn) {
    MPI_Request request;
    if (rank == 0)
      for (int i = 0; i < COUNT; ++i) data[i] = turn;
    if (ura_start(chain, (void*[]){data}, &request) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 1; i < 5000000; ++i) work += 1.0 / i;  // the computation that hides it
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == size - 1) printf("turn %d: the last of %d ranks has %g and %g\n", turn, size, data[0], data[COUNT - 1]);
  }
  if (rank == 0) printf("computed %.6f\n", work);
  ura_free(&chain);
  MPI_Finalize();
  return 0;
}
// SPDX-License-Identifier: BSD-3-Clause
