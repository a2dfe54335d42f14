// SPDX-License-Identifier: BSD-3-Clause
// A persistent neighbourhood collective whose arguments are wrong on one rank: the error handler of its communicator is
// told there, in that call, whether the others are in it, too, or not. Nobody waits for anybody who does not come, and
// what is right goes on working. Wrong are a type, a count of several, or a type of several.
#include <stdio.h>
#include <stdlib.h>

#include "features.h"

#if !HAVE_PERSISTENT
#error "needs persistent neighbourhood collectives"
#endif

static int told = 0, told_class = MPI_SUCCESS;

static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++told;
  MPI_Error_class(*code, &told_class);
}

static int rank, ranks, wrong = 0;
static int out[2], in[2];

static void expect(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "wrong_arguments_on_one_rank, rank %d: %s\n", rank, what);
  wrong = 1;
}

typedef enum { PLAIN, WITH_COUNTS, WITH_TYPES, OPERATIONS } Operation;

// One integer to each neighbour, and from it; but for the second a wrong one.
static MPI_Request make(MPI_Comm ring, Operation operation, int count, MPI_Datatype type) {
  static const int places[] = {0, 1}, ones[] = {1, 1};
  static const MPI_Aint addresses[] = {0, sizeof(int)};
  const int counts[] = {1, count};
  const MPI_Datatype types[] = {MPI_INT, type}, integers[] = {MPI_INT, MPI_INT};
  MPI_Request request = MPI_REQUEST_NULL;
  if (operation == PLAIN) {
    PERSISTENT(Neighbor_alltoall)(out, count, type, in, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
  } else if (operation == WITH_COUNTS) {
    PERSISTENT(Neighbor_alltoallv)
    (out, counts, places, type, in, ones, places, MPI_INT, ring, MPI_INFO_NULL, &request);
  } else {
    PERSISTENT(Neighbor_alltoallw)
    (out, ones, addresses, types, in, counts, addresses, integers, ring, MPI_INFO_NULL, &request);
  }
  return request;
}

static void make_wrong(MPI_Comm ring, Operation operation) {
  told = 0;
  const int counts = operation == WITH_COUNTS;
  make(ring, operation, counts ? -1 : 1, counts ? MPI_INT : MPI_DATATYPE_NULL);
  expect(told != 0 && told_class == (counts ? MPI_ERR_COUNT : MPI_ERR_TYPE), "the error handler has not been told");
}

// All ranks, with right arguments: each sends its rank and the side to both neighbours, some times.
static void exchange(MPI_Comm ring, Operation operation) {
  told = 0;
  MPI_Request request = make(ring, operation, 1, MPI_INT);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  for (int round = 0; round < 3; ++round) {
    for (int side = 0; side < 2; ++side) out[side] = 10 * (10 * round + rank) + side;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(in[0] == 10 * (10 * round + left) + 1 && in[1] == 10 * (10 * round + right), "another result");
  }
  MPI_Request_free(&request);
  expect(told == 0, "the error handler was told of a right call");
}

static void try(MPI_Comm ring, Operation operation) {
  MPI_Comm alone, together, all;
  MPI_Comm_dup(ring, &alone);
  MPI_Comm_dup(ring, &together);
  MPI_Comm_dup(ring, &all);

  // The others are not in it; then all are in a right one.
  exchange(alone, operation);
  if (rank == 0) make_wrong(alone, operation);
  exchange(alone, operation);
  // The others are in it, and wait for nobody; what comes next meets what comes next.
  if (rank == ranks - 1) {
    make_wrong(together, operation);
  } else {
    MPI_Request request = make(together, operation, 1, MPI_INT);
    MPI_Request_free(&request);
  }
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, together);
  expect(sum == ranks * (ranks - 1) / 2, "another sum");
  // All are wrong.
  make_wrong(all, operation);
  exchange(all, operation);
  exchange(ring, operation);

  MPI_Comm_free(&alone);
  MPI_Comm_free(&together);
  MPI_Comm_free(&all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int periodic = 1;
  MPI_Errhandler made;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  MPI_Comm_create_errhandler(handler, &made);
  MPI_Comm_set_errhandler(ring, made);
  MPI_Errhandler_free(&made);
  for (Operation operation = 0; operation < OPERATIONS; ++operation) try(ring, operation);
  MPI_Comm_free(&ring);
  int any = 0;
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong_arguments_on_one_rank: %s\n", any ? "WRONG" : "right");
  MPI_Finalize();
  return any;
}
