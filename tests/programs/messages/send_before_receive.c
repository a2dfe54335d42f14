// SPDX-License-Identifier: BSD-3-Clause
// Both ranks of a pair send first, test their request in one of MPI's ways until it is done, and only then receive:
// MPI libraries do so small a message at once. An argument names the way; exit code 77: this MPI is older than 4.1,
// which brought get_status_some.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "features.h"

enum { kBytes = 1024 };

static char out[kBytes], in[kBytes];

// Tests the two requests, of which the second is null, until the first is done.
static void finish(const char* way, MPI_Request* requests) {
  int flag = 0, index = MPI_UNDEFINED, done = 0, indices[2];
  if (strcmp(way, "test") == 0) {
    while (!flag) MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
  } else if (strcmp(way, "testall") == 0) {
    while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  } else if (strcmp(way, "testany") == 0) {
    while (!flag) MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
  } else if (strcmp(way, "testsome") == 0) {
    while (done == 0) MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
  } else if (strcmp(way, "waitany") == 0) {
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  } else if (strcmp(way, "waitsome") == 0) {
    MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
  } else if (strcmp(way, "get_status") == 0) {
    while (!flag) MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
#if HAVE_GET_STATUS_SOME
  } else if (strcmp(way, "get_status_some") == 0) {
    while (done == 0) MPI_Request_get_status_some(2, requests, &done, indices, MPI_STATUSES_IGNORE);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
#endif
  } else {
    fprintf(stderr, "there is no way %s\n", way);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int peer = rank ^ 1;
  if (argc < 2 || peer >= ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  if (!HAVE_GET_STATUS_SOME && strcmp(argv[1], "get_status_some") == 0) return MPI_Finalize() == MPI_SUCCESS ? 77 : 1;
  for (int round = 0; round < 4; ++round) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    const int persistent = round == 1;
    memset(out, rank + round, sizeof out);
    if (persistent) {
      MPI_Send_init(out, kBytes, MPI_CHAR, peer, round, MPI_COMM_WORLD, &requests[0]);
      MPI_Start(&requests[0]);
    } else {
      MPI_Isend(out, kBytes, MPI_CHAR, peer, round, MPI_COMM_WORLD, &requests[0]);
    }
    finish(argv[1], requests);
    memset(out, -1, sizeof out);
    MPI_Recv(in, kBytes, MPI_CHAR, peer, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (persistent) MPI_Request_free(&requests[0]);
    for (int i = 0; i < kBytes; ++i) {
      if (in[i] == peer + round) continue;
      fprintf(stderr, "round %d: byte %d is %d\n", round, i, in[i]);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return 0;
}
