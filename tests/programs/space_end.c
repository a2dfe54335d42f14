// A rank ends, or all wait to be ended, in many ways.
//
//     space_end code N|segfault|abort|mpi_abort|wait|children
//
// Every rank says "pid P" first. "code": the last rank exits with N, the others with 0. "segfault", "abort",
// "mpi_abort": the last rank does it while the others wait in MPI_Barrier. "wait": all wait in it for ever, but the
// last, which sleeps. "children": as "wait", and each rank has a child of its own that sleeps ("pid P" too).
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
    if (strcmp(how, "mpi_abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
    for (;;) pause();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
