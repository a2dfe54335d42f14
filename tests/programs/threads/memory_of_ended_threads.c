// SPDX-License-Identifier: BSD-3-Clause
// Requests that one thread starts and another completes, which ends then: thread after thread. What they leave must not
// add up. Exit code 77: the MPI library does not give MPI_THREAD_MULTIPLE.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "need_threads.h"

enum { kThreads = 1000, kMessages = 100, kWarm = 100, kMostGrowth = 16 << 20 };

static int rank, out[kMessages], in[kMessages];
static MPI_Request requests[kMessages];

static void* complete(void* unused) {
  for (int i = 0; i < kMessages; ++i) MPI_Send(&out[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD);
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
  return unused;
}

// In bytes; that of the space, where the rank lives in one.
static long resident(void) {
  long size, pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2) MPI_Abort(MPI_COMM_WORLD, 1);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

int main(int argc, char** argv) {
  need_threads(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  long before = 0;
  for (int turn = 0; turn < kThreads; ++turn) {
    for (int i = 0; i < kMessages; ++i) {
      out[i] = turn + i;
      MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]);
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, complete, NULL) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    pthread_join(thread, NULL);
    for (int i = 0; i < kMessages; ++i) {
      if (in[i] != turn + i) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (turn == kWarm) {
      MPI_Barrier(MPI_COMM_WORLD);
      before = resident();
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const long growth = resident() - before;
  if (growth > kMostGrowth) {
    fprintf(stderr, "%d threads left %ld bytes\n", kThreads - kWarm, growth);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
