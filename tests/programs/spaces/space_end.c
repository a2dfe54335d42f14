// SPDX-License-Identifier: BSD-3-Clause
// A rank ends, or all wait to be ended, in many ways.
//
//     space_end code N|segfault|abort|mpi_abort|overflow|linking LIBRARY|wait|children
//
// Every rank says "pid P" first. "code": the last rank exits with N, the others with 0. "segfault", "abort",
// "mpi_abort": the last rank does it while the others wait in MPI_Barrier. "overflow": likewise by its stack.
// "linking": likewise by a wrong address, while another of its threads is in dlopen() of a library, whose constructor
// closes descriptor 100 and does not return. "wait": all wait in it for ever, but the last, which sleeps. "children":
// as "wait", and each rank has a child of its own that sleeps ("pid P" too).
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int deeper(volatile char* above) {
  volatile char here[1000];
  here[0] = above[0];
  return deeper(here) + here[0];
}

static void* load(void* library) {
  dlopen(library, RTLD_NOW);
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* how = argc > 1 ? argv[1] : "code";
  if (strcmp(how, "children") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) pause();
    }
    printf("pid %ld\n", (long)child);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("pid %ld\n", (long)getpid());
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);  // nobody dies before all have spoken
  if (strcmp(how, "code") == 0) {
    MPI_Finalize();
    return argc > 2 && rank == size - 1 ? atoi(argv[2]) : 0;
  }
  if (rank == size - 1) {
    if (strcmp(how, "segfault") == 0) *(volatile int*)16 = 1;
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "overflow") == 0) return deeper("");
    if (strcmp(how, "linking") == 0) {
      int ends[2];
      pthread_t thread;
      char byte;
      if (pipe(ends) != 0 || dup2(ends[1], 100) != 100 || close(ends[1]) != 0) return 1;
      pthread_create(&thread, NULL, load, argv[2]);
      if (read(ends[0], &byte, 1) == 0) *(volatile int*)16 = 1;  // the constructor has closed the other end
    }
    if (strcmp(how, "mpi_abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
    for (;;) pause();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
