// SPDX-License-Identifier: BSD-3-Clause
// The MPI library finds a fatal error on a progress thread of Urakata and calls exit() there, as MPICH does where
// another rank was killed. The process ends with the library's code, and nothing is said of memory.
//
// With -DLIBRARY: a library before the C library, whose process_vm_readv(), by which MPI libraries copy long messages
// of a node, ends the process on another thread than the one that called MPI_Init.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef LIBRARY
ssize_t process_vm_readv(pid_t process, const struct iovec* here, unsigned long here_count, const struct iovec* there,
                         unsigned long there_count, unsigned long flags) {
  (void)process, (void)here, (void)here_count, (void)there, (void)there_count, (void)flags;
  if (gettid() == getpid()) return -1;
  fprintf(stderr, "library_exits: on a progress thread\n");
  exit(17);
}
#else
#include <mpi.h>

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  static double in[100000];
  static double out[100000];
  MPI_Request request;
  MPI_Iallreduce(in, out, 100000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  for (;;) pause();
}
#endif
