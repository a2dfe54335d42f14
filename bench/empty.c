// SPDX-License-Identifier: BSD-3-Clause
// A program that does nothing but MPI_Init and MPI_Finalize: what starting and ending a job costs. Whoever runs it
// takes the time of the whole job, launcher included.
#define _GNU_SOURCE

#include "loaded.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  print_loaded();
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) printf("{\"ranks\": %d, \"space\": %s}\n", ranks, in_space() ? "true" : "false");
  MPI_Finalize();
  return 0;
}
