// SPDX-License-Identifier: BSD-3-Clause
// Ranks 1 and 2 exchange messages until one fails, while the test breaks the link between their hosts. Then everything
// that needs the other one ends with an error: sends, receives of either kind, probes. Files in the folder argv[1] say
// how far each rank is.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "meeting_files.h"

enum { kBytes = 300000, kRanks = 3 };

static const char* folder;
static char out[kBytes], in[kBytes];

static void fails(const char* what, int code) {
  if (code != MPI_SUCCESS) return;
  fprintf(stderr, "%s succeeds although the peer is lost\n", what);
  abort();
}

static void exchange(int rank, int other) {
  for (long done = 1;; ++done) {
    MPI_Request both[2];
    int code = MPI_Irecv(in, kBytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, &both[0]);
    if (code == MPI_SUCCESS) code = MPI_Isend(out, kBytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, &both[1]);
    if (code == MPI_SUCCESS) code = MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) break;
    if (done == 10) say(folder, "works", rank);
  }
  MPI_Status status;
  fails("MPI_Send", MPI_Send(out, 8, MPI_CHAR, other, 2, MPI_COMM_WORLD));
  fails("MPI_Ssend", MPI_Ssend(out, 8, MPI_CHAR, other, 2, MPI_COMM_WORLD));
  fails("MPI_Recv", MPI_Recv(in, 8, MPI_CHAR, other, 3, MPI_COMM_WORLD, &status));
  fails("MPI_Recv from any", MPI_Recv(in, 8, MPI_CHAR, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status));
  fails("MPI_Probe", MPI_Probe(other, 3, MPI_COMM_WORLD, &status));
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank != 0) exchange(rank, 3 - rank);
  say(folder, "failed", rank);
  wait_for_all(folder, "failed", kRanks);
  _exit(0);  // the host has lost the link, too
}
