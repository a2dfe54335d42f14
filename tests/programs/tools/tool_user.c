// SPDX-License-Identifier: BSD-3-Clause
// A program for tools to watch: 50 times MPI_Iallreduce and MPI_Wait. Its children would get EXPECTED_PRELOADS as
// LD_PRELOAD, and nothing of Urakata's. With -DMODULE it is a library whose play() somebody calls.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int play(void) {
  const char* expected = getenv("EXPECTED_PRELOADS");
  const char* preloads = getenv("LD_PRELOAD");
  if (strcmp(expected == NULL ? "" : expected, preloads == NULL ? "" : preloads) != 0) {
    fprintf(stderr, "a child would get LD_PRELOAD=%s\n", preloads);
    return 2;
  }
  MPI_Init(NULL, NULL);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int wrong = 0;
  for (int i = 0; i < 50; ++i) {
    int one = 1;
    int sum = 0;
    MPI_Request request;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong += sum != ranks;
  }
  MPI_Finalize();
  return wrong != 0;
}

#ifndef MODULE
int main(void) { return play(); }
#endif
