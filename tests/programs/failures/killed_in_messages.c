// SPDX-License-Identifier: BSD-3-Clause
// The last rank is killed while the others
//   send     wait for a long message of its own that has begun
//   receive  wait in MPI_Send of a long message to it, for which it has no receive
//   any      wait for a message from any source
//   small    exchange small messages with it, one after the other
//   compute  compute with a receive open that names it, and then wait
// Every rank says "pid P" first.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 8 << 20, ROUNDS = 50 };

int main(int argc, char** argv) {
  int rank = 0;
  int ranks = 0;
  if (argc != 2) return 2;
  const char* how = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  printf("pid %ld\n", (long)getpid());
  fflush(stdout);
  volatile char* room = calloc(LONG, 1);
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  const int last = ranks - 1;
  if (rank == last) {
    char word = 0;
    for (int i = 0; i < ROUNDS; ++i) {
      for (int other = 0; other < last; ++other) {
        MPI_Recv(&word, 1, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_CHAR, other, 1, MPI_COMM_WORLD);
      }
    }
    if (strcmp(how, "send") == 0) {
      int done = 0;
      memset((char*)room, 7, LONG);
      MPI_Isend((char*)room, LONG, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
      for (int i = 0; i < 1000 && done == 0; ++i) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    raise(SIGKILL);
  }
  for (int i = 0; i < ROUNDS || strcmp(how, "small") == 0; ++i) {
    char word = 1;
    MPI_Send(&word, 1, MPI_CHAR, last, 1, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_CHAR, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(how, "receive") == 0) MPI_Send((char*)room, LONG, MPI_CHAR, last, 0, MPI_COMM_WORLD);
  const int source = strcmp(how, "any") == 0 ? MPI_ANY_SOURCE : last;
  MPI_Irecv((char*)room, LONG, MPI_CHAR, source, 0, MPI_COMM_WORLD, &request);
  if (strcmp(how, "compute") == 0) {
    const double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < 0.5) {
    }
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
