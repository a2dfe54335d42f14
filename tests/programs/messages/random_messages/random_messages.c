// SPDX-License-Identifier: BSD-3-Clause
// Random point-to-point traffic in rounds: all modes, persistent requests, probes, wildcards, cancels, derived types of
// several constructors, often freed while the message is under way, on communicators that come about in different ways.
// Each message says who sent it, with what tag, and its number; a receiver checks every byte, and that messages of one
// sender with one tag come in the order in which they were sent.
//
// random_messages [--rounds N] [--seed S] [--messages M] [--largest B] [--idup 0]: M messages a rank and round, on
// average, of at most B bytes; with --idup 0 on no communicator of MPI_Comm_idup, whose messages Urakata leaves to the
// MPI library.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "message.h"
#include "random.h"
#include "ring.h"
#include "round.h"

int rank;
uint64_t seed = 1;

void fail(const char* what, int a, int b) {
  fprintf(stderr, "random_messages: rank %d, seed %llu: %s (%d, %d)\n", rank, (unsigned long long)seed, what, a, b);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int ranks, rounds = 40, messages = 40, idup = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--messages") == 0) messages = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--largest") == 0) largest = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--idup") == 0) idup = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
  }
  if (ranks > kMostRanks || largest < kHeader) fail("too many ranks, or too few bytes", ranks, largest);
  static char room[1 << 26];
  MPI_Buffer_attach(room, sizeof room);

  MPI_Comm comms[6] = {MPI_COMM_WORLD};
  MPI_Request made;
  int size[1] = {ranks}, periodic[1] = {1};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]);
  if (idup) {
    MPI_Comm_idup(MPI_COMM_WORLD, &comms[4], &made);
    MPI_Wait(&made, MPI_STATUS_IGNORE);
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[4]);
  }
  MPI_Cart_create(MPI_COMM_WORLD, 1, size, periodic, 0, &comms[5]);

  long received = 0;
  for (int round = 0; round < rounds; ++round) {
    Random shared = random_of(seed, (uint64_t)round, 0);
    Random own = random_of(seed, (uint64_t)round, (uint64_t)rank + 1);
    const MPI_Comm comm = comms[below(&shared, 6)];
    ring(comm, shared);
    received += play_round(comm, between(&shared, 1, 2 * messages), shared, &own);
  }
  for (int i = 1; i < 6; ++i) MPI_Comm_free(&comms[i]);
  void* back;
  int bytes;
  MPI_Buffer_detach(&back, &bytes);
  long all = 0;
  MPI_Reduce(&received, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld messages, seed %llu\n", all, (unsigned long long)seed);
  MPI_Finalize();
  return 0;
}
