// SPDX-License-Identifier: BSD-3-Clause
// Ranks 1 and 2 exchange messages until one fails, while the test breaks the link between their hosts. Then everything
// that needs the other one ends with an error: sends, receives of either kind, probes, an MPI_Sendrecv from memory of a
// false device, whose driver is argv[2]. Files in the folder argv[1] say how far each rank is.
#include <dlfcn.h>
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

// Its staged send fails, and nothing is received.
static void exchange_from_device(const char* driver, int other) {
  void* const library = dlopen(driver, RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) abort();
  void* (*make)(size_t, int, int);
  long (*copied)(void);
  *(void**)&make = dlsym(library, "false_make");
  *(void**)&copied = dlsym(library, "false_copied");
  const int code = MPI_Sendrecv(make(8, 1, 0), 8, MPI_CHAR, other, 4, in, 8, MPI_CHAR, MPI_PROC_NULL, 4, MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE);
  fails("MPI_Sendrecv", code);
  if (copied() == 0) abort();
}

static void exchange(int rank, int other, const char* driver) {
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
  exchange_from_device(driver, other);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  folder = argv[1];
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank != 0) exchange(rank, 3 - rank, argv[2]);
  say(folder, "failed", rank);
  wait_for_all(folder, "failed", kRanks);
  _exit(0);  // the host has lost the link, too
}
