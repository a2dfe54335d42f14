// SPDX-License-Identifier: BSD-3-Clause
// Programs that stand on MPI's progress rule: a rank that has started a collective and is blocked in some other MPI
// call still does its part, for others wait for it there. A rank that does not makes this program hang.
//
//     progress_order recv|send|barrier|dup|fence|probe|allreduce|split     (2 ranks or more)
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 300000 };

static int size, rank;
static char* data;
static MPI_Comm other;

// Every rank but 0 waits for the broadcast before it comes to what rank 0 (the root, which others need) is blocked in.
static void block_in(const char* where) {
  int token = 0;
  MPI_Comm made = MPI_COMM_NULL;
  if (strcmp(where, "recv") == 0) {
    if (rank == 0) MPI_Recv(&token, 1, MPI_INT, size - 1, 5, other, MPI_STATUS_IGNORE);
    if (rank == size - 1) MPI_Send(&token, 1, MPI_INT, 0, 5, other);
  } else if (strcmp(where, "send") == 0) {
    if (rank == 0) MPI_Ssend(&token, 1, MPI_INT, size - 1, 5, other);
    if (rank == size - 1) MPI_Recv(&token, 1, MPI_INT, 0, 5, other, MPI_STATUS_IGNORE);
  } else if (strcmp(where, "probe") == 0) {
    if (rank == 0) {
      MPI_Probe(size - 1, 5, other, MPI_STATUS_IGNORE);
      MPI_Recv(&token, 1, MPI_INT, size - 1, 5, other, MPI_STATUS_IGNORE);
    }
    if (rank == size - 1) MPI_Send(&token, 1, MPI_INT, 0, 5, other);
  } else if (strcmp(where, "barrier") == 0) {
    MPI_Barrier(other);
  } else if (strcmp(where, "allreduce") == 0) {
    MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_INT, MPI_SUM, other);
  } else if (strcmp(where, "dup") == 0) {
    MPI_Comm_dup(other, &made);
  } else if (strcmp(where, "split") == 0) {
    MPI_Comm_split(other, 0, rank, &made);
  } else if (strcmp(where, "fence") == 0) {
    static int memory;
    MPI_Win window;
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, other, &window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
  } else {
    fprintf(stderr, "progress_order: unknown place %s\n", where);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* where = argc > 1 ? argv[1] : "recv";
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  data = malloc(kBytes);
  for (int round = 0; round < 20; ++round) {
    memset(data, rank == 0 ? round : 99, kBytes);
    // From 0 to all, then a sum that needs everybody: neither rank 0 nor inner ranks may sleep on it.
    MPI_Request requests[2];
    int sum = 0;
    const int one = 1;
    MPI_Ibcast(data, kBytes, MPI_BYTE, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    if (rank == 0) {
      block_in(where);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      block_in(where);
    }
    if (sum != size || data[kBytes - 1] != round || data[0] != round) {
      fprintf(stderr, "progress_order: wrong result in round %d\n", round);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  free(data);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return 0;
}
