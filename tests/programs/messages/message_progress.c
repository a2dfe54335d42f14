// SPDX-License-Identifier: BSD-3-Clause
// Messages move while a rank is in a call of the MPI library, tests another request, or ends: rank 0 waits in a barrier
// while the others' synchronous sends need its receives, then probes for a message that comes only after its own to the
// last rank, then the others wait in a barrier while rank 0 needs more of their sends than any inbox holds, first of
// blocking ones, and last (not if an argument is given) the others go to MPI_Finalize with such sends. Hangs where
// progress is missing, as in MPICH's MPI_Finalize.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kMany = 2000, kSome = 100, kBytes = 200, kSizes = 3, kMostRanks = 16 };

static const int sizes[kSizes] = {8, 300, 100000};
static char out[kMany][kBytes];
static char room[kMostRanks][kSizes][100000];
static MPI_Request requests[kMany];
static int rank, ranks;

static void check(const char* what, int is, int wanted) {
  if (is == wanted) return;
  fprintf(stderr, "%s: %d instead of %d\n", what, is, wanted);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void receiver_away(void) {
  if (rank == 0) {
    int n = 0;
    for (int s = 1; s < ranks; ++s) {
      for (int i = 0; i < kSizes; ++i) {
        MPI_Irecv(room[s][i], sizes[i], MPI_CHAR, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[n++]);
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int s = 1; s < ranks; ++s) {
      for (int i = 0; i < kSizes; ++i) check("last byte", room[s][i][sizes[i] - 1], i + 1);
    }
  } else {
    for (int i = 0; i < kSizes; ++i) {
      room[0][i][sizes[i] - 1] = (char)(i + 1);
      MPI_Ssend(room[0][i], sizes[i], MPI_CHAR, 0, i, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void start_many(void) {
  for (int i = 0; i < kMany; ++i) {
    out[i][kBytes - 1] = (char)(i % 100);
    MPI_Isend(out[i], kBytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD, &requests[i]);
  }
}

// More than an inbox holds, and all return before rank 0 receives any, as they do in every MPI library.
static void send_some(void) {
  for (int i = 0; i < kSome; ++i) {
    out[i][kBytes - 1] = (char)(i % 100);
    if (i % 2 == 0) {
      MPI_Send(out[i], kBytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
    } else {
      MPI_Sendrecv(out[i], kBytes, MPI_CHAR, 0, 5, NULL, 0, MPI_CHAR, MPI_PROC_NULL, 5, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    }
  }
}

static void receive(int many) {
  char in[kBytes];
  for (int i = 0; i < many; ++i) {
    for (int s = 1; s < ranks; ++s) {
      MPI_Recv(in, kBytes, MPI_CHAR, s, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check("number", in[kBytes - 1], i % 100);
    }
  }
}

// Rank 0 sends to the last rank, that one to rank 1 and that one to rank 0, which probes only for this message.
static void look_for_another(int by_waitany) {
  static char large[4 << 20];
  MPI_Request sending, receiving;
  int n = 0, done = 0, index;
  if (rank == 0) {
    MPI_Isend(large, sizeof large, MPI_CHAR, ranks - 1, 6, MPI_COMM_WORLD, &sending);
    MPI_Irecv(&n, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &receiving);
    if (by_waitany) MPI_Waitany(1, &receiving, &index, MPI_STATUS_IGNORE);
    while (!by_waitany && !done) MPI_Test(&receiving, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
  } else if (rank == ranks - 1) {
    MPI_Recv(large, sizeof large, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&n, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&n, 1, MPI_INT, ranks - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&n, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > kMostRanks) MPI_Abort(MPI_COMM_WORLD, 2);
  receiver_away();
  for (int by_waitany = 0; by_waitany < 2 && ranks > 2; ++by_waitany) look_for_another(by_waitany);
  if (rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    receive(kSome);
    MPI_Barrier(MPI_COMM_WORLD);
    receive(kMany);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc == 1) receive(kMany);
  } else {
    send_some();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    start_many();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
    if (argc == 1) {
      start_many();
      for (int i = 0; i < kMany; ++i) MPI_Request_free(&requests[i]);
    }
  }
  MPI_Finalize();
  return 0;
}
