// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives of many sizes, one after the other, against what comes out by rank and round; mixed with
// non-blocking ones that are under way.
//
//     blocking_collectives [ROUNDS]        prints how many elements were wrong on all ranks
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 5000, kSmall = 170, kRanks = 64 };

static int rank, ranks;
static double mine[kMost], all[kRanks * kMost], sums[kMost];
static long wrong;

static double value(int of, int round, int i) { return of * 1000 + round % 100 + i; }

static void give(int of, int round, int n) {
  for (int i = 0; i < n; ++i) mine[i] = value(of, round, i);
}

static void check(const double* got, int n, double factor, double add, int round) {
  for (int i = 0; i < n; ++i) wrong += got[i] != factor * value(0, round, i) + add;
}

static void broadcast(int round, int n) {
  const int root = round % ranks;
  give(rank, round, n);
  MPI_Bcast(mine, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
  check(mine, n, 1, root * 1000, round);
}

static void reduce(int round, int n) {
  const int root = round % ranks;
  const double thousands = 1000.0 * ranks * (ranks - 1) / 2;
  MPI_Request request;
  give(rank, round, n);
  MPI_Iallreduce(mine, sums, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Allreduce(mine, all, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  check(all, n, ranks, thousands, round);
  MPI_Reduce(mine, all, n, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD);
  if (rank == root) check(all, n, 1, 1000.0 * (ranks - 1), round);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(sums, n, ranks, thousands, round);
}

static void gather(int round, int n) {
  give(rank, round, n);
  MPI_Allgather(mine, n, MPI_DOUBLE, all, n, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int of = 0; of < ranks; ++of) check(all + (long)of * n, n, 1, of * 1000, round);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  for (int round = 0; ranks <= kRanks && round < rounds; ++round) {
    const int n = round % 7 == 6 ? kMost : 1 + round % kSmall;
    broadcast(round, n);
    reduce(round, n);
    gather(round, n);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d rounds, %ld wrong\n", rounds, wrong);
  MPI_Finalize();
  return wrong != 0;
}
