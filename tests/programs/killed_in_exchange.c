// The last rank of a ring is killed while the others wait in an exchange with their neighbours: in MPI_Wait of a persistent
// neighbourhood collective ("neighbours"), or in ura_halo_end ("halo"). Every rank says "pid P" first.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <urakata.h>

enum { kEach = 512, kRounds = 5 };

static int rank, ranks;
static double from[2 * kEach], to[2 * kEach];

static void neighbours(void) {
  const int both[2] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
  MPI_Comm ring;
  MPI_Request request;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &ring);
  MPI_Neighbor_alltoall_init(from, kEach, MPI_DOUBLE, to, kEach, MPI_DOUBLE, ring, MPI_INFO_NULL, &request);
  for (int round = 0;; ++round) {
    MPI_Start(&request);
    if (round == kRounds && rank == ranks - 1) raise(SIGKILL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void halo(void) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, count = kEach;
  int first[kEach], last[kEach];
  for (int i = 0; i < kEach; ++i) {
    first[i] = i;
    last[i] = kEach + i;
  }
  const ura_halo_side send = {1, &next, &count, first, 2 * kEach}, receive = {1, &before, &count, last, 2 * kEach};
  ura_halo* made;
  if (ura_halo_create(MPI_COMM_WORLD, sizeof *from, &send, &receive, &made) != MPI_SUCCESS) exit(2);
  for (int round = 0;; ++round) {
    if (round == kRounds && rank == ranks - 1) raise(SIGKILL);
    ura_halo_begin(made, from, from);
    ura_halo_end(made);
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  printf("pid %ld\n", (long)getpid());
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  strcmp(argv[1], "halo") == 0 ? halo() : neighbours();
  return 0;
}
