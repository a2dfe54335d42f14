// SPDX-License-Identifier: BSD-3-Clause
// Two ranks send each other 4 MiB at the same time, 5 times, in one of three ways:
//   wait  they wait at once
//   poll  they compute for 20 ms and then wait
//   come  they compute until what the other has sent is there, which needs somebody to move it meanwhile
// Each then says how much it was away, and whether all was right.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4 << 20, ROUNDS = 5 };

int main(int argc, char** argv) {
  int rank = 0;
  int wrong = 0;
  double away = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* way = argc > 1 ? argv[1] : "wait";
  char* out = malloc(BYTES);
  volatile char* in = malloc(BYTES);
  for (int round = 1; round <= ROUNDS; ++round) {
    memset(out, 2 * round + rank, BYTES);
    memset((char*)in, 0, BYTES);
    MPI_Request both[2];
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Irecv((char*)in, BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(out, BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &both[1]);
    if (strcmp(way, "poll") == 0) {
      while (MPI_Wtime() - begin < 0.02) {
      }
    } else if (strcmp(way, "come") == 0) {
      while (in[BYTES - 1] == 0) {
      }
    }
    away += MPI_Wtime() - begin;
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    for (int i = 0; i < BYTES; i += 4095) wrong += in[i] != (char)(2 * round + 1 - rank);
  }
  printf("away %.9f %s\n", away, wrong == 0 ? "right" : "WRONG");
  free(out);
  free((char*)in);
  MPI_Finalize();
  return wrong != 0;
}
