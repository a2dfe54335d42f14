/* SPDX-License-Identifier: BSD-3-Clause */
// For programs that are about threads: MPI_THREAD_MULTIPLE, or the end of the program with exit code 77.
#ifndef URAKATA_TESTS_NEED_THREADS_H
#define URAKATA_TESTS_NEED_THREADS_H

#include <mpi.h>
#include <stdlib.h>

static inline void need_threads(int* argc, char*** argv) {
  int provided;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided == MPI_THREAD_MULTIPLE) return;
  MPI_Finalize();
  exit(77);
}

#endif
