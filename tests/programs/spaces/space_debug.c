// SPDX-License-Identifier: BSD-3-Clause
// What a debugger is to show of one rank: a variable of its own, and a function that all run again and again.
//
//     space_debug
//
// Every rank says "pid P" and works until it is ended. `own` is 1000 + R in rank R.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int own = 0;

__attribute__((noinline)) int work(int step) {
  usleep(10000);
  return step + own;
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  own = 1000 + rank;
  MPI_Barrier(MPI_COMM_WORLD);
  printf("pid %ld\n", (long)getpid());
  fflush(stdout);
  for (int step = 0; work(step) >= own; ++step) {
  }
  return 1;
}
