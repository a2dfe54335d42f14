// SPDX-License-Identifier: BSD-3-Clause
// A rank ends in the middle of an operation: the job must end, as it does without Urakata, and leave nothing behind.
//
//     early_exit exit|kill|abort|mpi_abort FOLDER
//
// Each rank leaves a file in the folder that is named after it and holds its pid: what a rank prints may be lost when a
// launcher ends all.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", argv[2], rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  fprintf(file, "%ld", (long)getpid());
  fclose(file);
  MPI_Barrier(MPI_COMM_WORLD);
  const int bytes = 4 << 20;
  char* data = calloc((size_t)bytes, (size_t)size);
  char* all = calloc((size_t)bytes, (size_t)size);
  MPI_Request request;
  MPI_Ialltoall(data, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
  const char* how = argv[1];
  if (rank == size - 1) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "mpi_abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
    _exit(3);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  free(data);
  free(all);
  return 0;
}
