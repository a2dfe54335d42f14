// SPDX-License-Identifier: BSD-3-Clause
// Ranks start others by way of urakata-exec, whose path and whose options are given: spawned_report EXEC REPORT.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent, others = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  MPI_Barrier(MPI_COMM_WORLD);
  if (parent == MPI_COMM_NULL) {
    char* words[] = {"--report", argv[2], "--", argv[0], NULL};
    MPI_Comm_spawn(argv[1], words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
    MPI_Barrier(others);
    MPI_Comm_disconnect(&others);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Barrier(parent);
    MPI_Comm_disconnect(&parent);
  }
  MPI_Finalize();
  puts("ok");
  return 0;
}
