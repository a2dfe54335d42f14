// SPDX-License-Identifier: BSD-3-Clause
/* Iallreduce with hardly any computation behind it; every fourth time rank 1 begins only when rank 0 has begun and told
 * it. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 40, COUNT = 64 };

static volatile double sink;

static void compute(int turns) {
  for (int i = 0; i < turns; ++i) sink = sink * 0.5 + i;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double in[COUNT], out[COUNT];
  int wrong = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    const int late = round % 4 == 3;
    for (int i = 0; i < COUNT; ++i) in[i] = rank + round + i;
    if (late && rank == 1) {
      MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      compute(20000000);
    }
    MPI_Request request;
    MPI_Iallreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (late && rank == 0) MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    compute(1000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; ++i) wrong += out[i] != 2.0 * (round + i) + 1;
  }
  printf("rank %d: %s\n", rank, wrong == 0 ? "right" : "WRONG");
  MPI_Finalize();
  return wrong != 0;
}
