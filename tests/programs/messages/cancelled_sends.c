// SPDX-License-Identifier: BSD-3-Clause
// Sends that are cancelled when they have left: MPI_Test_cancelled says no, and the message arrives. Rank 0 sends to
// all others, which receive when they are told that all has been cancelled; 8 B and a MiB, standard, synchronous and
// persistent.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kMost = 1 << 20, kSends = 6, kGo = 99 };

static char out[kSends][kMost], in[kMost];

static int size_of(int number) { return number % 2 == 0 ? 8 : kMost; }

static void send_to(int other) {
  MPI_Request requests[kSends];
  for (int i = 0; i < kSends; ++i) {
    memset(out[i], 10 * other + i, kMost);
    if (i < 2) MPI_Isend(out[i], size_of(i), MPI_CHAR, other, i, MPI_COMM_WORLD, &requests[i]);
    if (i / 2 == 1) MPI_Issend(out[i], size_of(i), MPI_CHAR, other, i, MPI_COMM_WORLD, &requests[i]);
    if (i / 2 == 2) {
      MPI_Send_init(out[i], size_of(i), MPI_CHAR, other, i, MPI_COMM_WORLD, &requests[i]);
      MPI_Start(&requests[i]);
    }
    MPI_Cancel(&requests[i]);
  }
  MPI_Send(NULL, 0, MPI_CHAR, other, kGo, MPI_COMM_WORLD);
  MPI_Status statuses[kSends];
  MPI_Waitall(kSends, requests, statuses);
  for (int i = 0; i < kSends; ++i) {
    int cancelled = 1;
    MPI_Test_cancelled(&statuses[i], &cancelled);
    if (cancelled) {
      fprintf(stderr, "send %d to rank %d is said to be cancelled\n", i, other);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
  }
}

static void receive_all(int rank) {
  MPI_Recv(NULL, 0, MPI_CHAR, 0, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = kSends - 1; i >= 0; --i) {
    MPI_Status status;
    int bytes = 0;
    MPI_Recv(in, kMost, MPI_CHAR, 0, i, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    if (bytes == size_of(i) && in[0] == 10 * rank + i && in[bytes - 1] == in[0]) continue;
    fprintf(stderr, "rank %d: message %d has not arrived as sent\n", rank, i);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int other = 1; rank == 0 && other < ranks; ++other) send_to(other);
  if (rank != 0) receive_all(rank);
  MPI_Finalize();
  return 0;
}
