// SPDX-License-Identifier: BSD-3-Clause
// 2 MiB to and from the other rank, as a halo of urakata.h and as a persistent neighbourhood collective: begun, and
// then each rank computes without a call of MPI until they are here. So somebody else has to move them, at both ends.
// Two ranks.
//
//     exchange_while_computing
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <urakata.h>

enum { kEach = 1 << 19, kRounds = 3, kLongest = 30 };  // ints; seconds after which nobody moves them

static int rank, other, wrong = 0;
static int* vector;  // the own elements, then those of the other rank

static int value(int of, int round, int i) { return (of + 1) * 1000003 + round * 10007 + i; }

static void fill(int round) {
  for (int i = 0; i < kEach; ++i) {
    vector[i] = value(rank, round, i);
    vector[kEach + i] = -1;
  }
}

// Looks at memory, and calls nothing of MPI's.
static int comes_by_itself(int round) {
  const volatile int* last = &vector[2 * kEach - 1];
  const time_t end = time(NULL) + kLongest;
  double work = 1;
  while (*last != value(other, round, kEach - 1) && time(NULL) < end) {
    for (int i = 0; i < 1000; ++i) work = work * 0.999 + 1;
  }
  return work > 0 && *last == value(other, round, kEach - 1);
}

static void look(const char* what, int round, int came) {
  int bad = 0;
  for (int i = 0; i < kEach; ++i) bad += vector[kEach + i] != value(other, round, i);
  if (!came)
    fprintf(stderr, "exchange_while_computing, rank %d: %s %d does not move while its ranks compute\n", rank, what,
            round);
  if (bad) fprintf(stderr, "exchange_while_computing, rank %d: %d wrong elements of %s %d\n", rank, bad, what, round);
  wrong += bad + !came;
}

static void by_halo(void) {
  int *mine = malloc(kEach * sizeof *mine), *theirs = malloc(kEach * sizeof *theirs);
  const int count = kEach;
  if (mine == NULL || theirs == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < kEach; ++i) {
    mine[i] = i;
    theirs[i] = kEach + i;
  }
  const ura_halo_side send = {1, &other, &count, mine, 2 * kEach}, receive = {1, &other, &count, theirs, 2 * kEach};
  ura_halo* halo;
  if (ura_halo_create(MPI_COMM_WORLD, sizeof *vector, &send, &receive, &halo) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 2);
  for (int round = 0; round < kRounds; ++round) {
    fill(round);
    ura_halo_begin(halo, vector, vector);
    const int came = comes_by_itself(round);
    ura_halo_end(halo);
    look("halo", round, came);
  }
  ura_halo_free(&halo);
  free(mine);
  free(theirs);
}

static void by_collective(void) {
  MPI_Comm pair;
  MPI_Request request;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &pair);
  MPI_Neighbor_alltoall_init(vector, kEach, MPI_INT, vector + kEach, kEach, MPI_INT, pair, MPI_INFO_NULL, &request);
  for (int round = kRounds; round < 2 * kRounds; ++round) {
    fill(round);
    MPI_Start(&request);
    const int came = comes_by_itself(round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    look("collective", round, came);
  }
  MPI_Request_free(&request);
  MPI_Comm_free(&pair);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  vector = malloc(2 * kEach * sizeof *vector);
  if (vector == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  by_halo();
  by_collective();
  free(vector);
  MPI_Finalize();
  if (!wrong) printf("exchange_while_computing: right\n");
  return wrong != 0;
}
