// SPDX-License-Identifier: BSD-3-Clause
// Small non-blocking reductions until one ends with an error, which is said; the job then ends well. One that never
// sees an error gives up after a minute. A file in the folder argv[1] says that a rank's first ones have ended.
#include <mpi.h>
#include <stdio.h>

static void say_works(const char* folder, int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/works.%d", folder, rank);
  FILE* const file = fopen(path, "w");
  if (file == NULL || fclose(file) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0, code = MPI_SUCCESS;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double begin = MPI_Wtime();
  for (int i = 0; code == MPI_SUCCESS && MPI_Wtime() - begin < 60; ++i) {
    if (i == 100) say_works(argv[1], rank);
    double mine = rank, sum = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    code = MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  printf("rank %d %s\n", rank, code != MPI_SUCCESS ? "ended with an error" : "saw no error");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
