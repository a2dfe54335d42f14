// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_disconnect waits for messages whose requests were given back before their end: rank 0 sends a MiB to rank 1,
// frees the request, disconnects and overwrites what it has sent; rank 1 has the same with its receive. In every other
// pair of rounds each second KiB only, by a type that is freed before.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kBytes = 1 << 20, kRounds = 20, kBlock = 1024 };

static char buffer[kBytes];

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm comm;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    memset(buffer, rank == 0 ? round + 1 : 0, kBytes);
    const int spaced = round / 2 % 2;
    MPI_Datatype type;
    MPI_Type_vector(spaced ? kBytes / kBlock / 2 : 1, spaced ? kBlock : kBytes, 2 * kBlock, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    if (rank == 0) {
      MPI_Isend(buffer, 1, type, 1, 0, comm, &request);
      MPI_Request_free(&request);
    } else if (rank == 1 && round % 2 == 0) {
      MPI_Irecv(buffer, 1, type, 0, 0, comm, &request);
      MPI_Request_free(&request);
    } else if (rank == 1) {
      MPI_Recv(buffer, 1, type, 0, 0, comm, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&type);
    MPI_Comm_disconnect(&comm);
    for (int i = 0; rank == 1 && i < kBytes; ++i) {
      if (buffer[i] == (spaced && i / kBlock % 2 ? 0 : round + 1)) continue;
      fprintf(stderr, "round %d: byte %d is %d\n", round, i, buffer[i]);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) memset(buffer, -1, kBytes);
  }
  MPI_Finalize();
  return 0;
}
