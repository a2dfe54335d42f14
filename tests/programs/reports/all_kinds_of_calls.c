// SPDX-License-Identifier: BSD-3-Clause
// Two ranks and a known number of calls of each kind, for the profile. With "hang" both ranks then wait for what never
// comes, each in a call of its own; with "abort" rank 0 calls MPI_Abort. Each rank prints how long its barriers took.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kCount = 100 };

static void collectives(int rank) {
  double out[2 * kCount] = {rank}, in[2 * kCount];
  for (int i = 0; i < 3; ++i) MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, kCount, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Scatter(out, kCount, MPI_DOUBLE, in, kCount, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Alltoall(out, kCount, MPI_DOUBLE, in, kCount, MPI_DOUBLE, MPI_COMM_WORLD);
  int counts[2] = {1, 2}, displacements[2] = {0, 1};
  MPI_Alltoallv(out, counts, displacements, MPI_DOUBLE, in, (int[]){rank + 1, rank + 1}, (int[]){0, 2}, MPI_DOUBLE,
                MPI_COMM_WORLD);
  MPI_Bcast(in, kCount, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Request request;
  for (int i = 0; i < 6; ++i) {
    MPI_Iallreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void messages(int rank) {
  double out[kCount] = {rank}, in[kCount];
  for (int i = 0; i < 20; ++i) {
    MPI_Sendrecv(out, kCount, MPI_DOUBLE, 1 - rank, 0, in, kCount, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  MPI_Send(out, kCount, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Request requests[2];
  for (int i = 0; i < 7; ++i) {
    MPI_Irecv(in, kCount, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, requests);
    MPI_Isend(out, kCount, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, requests + 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static void files_and_windows(int rank, const char* path) {
  double out[kCount] = {rank};
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int i = 0; i < 2; ++i) {
    MPI_File_write_at(file, (MPI_Offset)sizeof out * rank, out, kCount, MPI_DOUBLE, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
  double shared[kCount];
  MPI_Win window;
  MPI_Win_create(shared, sizeof shared, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(out, kCount / 2, MPI_DOUBLE, 1 - rank, 0, kCount / 2, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  collectives(rank);
  messages(rank);
  files_and_windows(rank, argv[1]);
  MPI_Comm again;
  MPI_Comm_dup(MPI_COMM_WORLD, &again);
  MPI_Comm_free(&again);
  long long barriers_ns = 0;
  for (int i = 0; i < 5; ++i) {
    if (rank == 1) usleep(50 * 1000);  // no event is waited for: being late is what the profile is to show
    const long long begin = now_ns();
    MPI_Barrier(MPI_COMM_WORLD);
    barriers_ns += now_ns() - begin;
  }
  if (argc > 2 && strcmp(argv[2], "hang") == 0) {
    int never;
    if (rank == 0) MPI_Recv(&never, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // the receive
    MPI_Barrier(MPI_COMM_WORLD);                                                           // the barrier
  }
  if (argc > 2 && strcmp(argv[2], "abort") == 0) {
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    for (;;) pause();
  }
  MPI_Finalize();
  printf("rank %d: barriers %lld ns\n", rank, barriers_ns);
  return 0;
}
