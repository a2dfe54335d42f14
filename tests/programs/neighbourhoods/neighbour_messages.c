// SPDX-License-Identifier: BSD-3-Clause
/* Neighbourhood collectives whose messages share a communicator with the program's own: neither takes what is the
 * other's, many may be under way, types and communicator may be freed meanwhile, and a block that is too long is an
 * error.
 *
 *     neighbour_messages [long]        by three ranks and more. `long`: with such blocks, of which not every MPI library tells */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 20, BLOCK = 3000 };

static int rank, ranks, left, right, wrong;

static void expect(int truth, const char* what) {
  if (truth) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  ++wrong;
}

static MPI_Comm ring(void) {
  const int one = 1;
  MPI_Comm made;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &one, 0, &made);
  MPI_Cart_shift(made, 0, 1, &left, &right);
  return made;
}

/* A receive and a probe of anything, on the communicator whose exchange is under way. */
static void keep_apart(int count) {
  MPI_Comm comm = ring();
  int* out = malloc(2 * sizeof(int) * (size_t)count);
  int* in = malloc(2 * sizeof(int) * (size_t)count);
  for (int i = 0; i < 2 * count; ++i) out[i] = rank * 2 + i / count;
  int got = -1, flag = 0;
  MPI_Request any, exchange;
  MPI_Status status;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any);
  MPI_Ineighbor_alltoall(out, count, MPI_INT, in, count, MPI_INT, comm, &exchange);
  MPI_Wait(&exchange, MPI_STATUS_IGNORE);
  expect(in[0] == left * 2 + 1 && in[2 * count - 1] == right * 2, "the exchange got something else");
  MPI_Test(&any, &flag, MPI_STATUS_IGNORE);
  expect(!flag, "a receive took a block of the exchange");
  MPI_Barrier(comm);
  const int word = 100 + rank;
  MPI_Send(&word, 1, MPI_INT, right, 7, comm);
  MPI_Wait(&any, &status);
  expect(got == 100 + left && status.MPI_TAG == 7 && status.MPI_SOURCE == left, "the receive got something else");

  MPI_Ineighbor_alltoall(out, count, MPI_INT, in, count, MPI_INT, comm, &exchange);
  for (int i = 0; i < 100; ++i) {
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
    expect(!flag, "a probe found a block of the exchange");
  }
  MPI_Wait(&exchange, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
  free(in);
  free(out);
}

/* Columns of a matrix; the type and the communicator are freed when all are under way, which are waited for from the
   last. */
static void free_early(void) {
  MPI_Comm comm = ring();
  MPI_Request requests[MANY];
  int* out = malloc(sizeof(int) * 2 * 2 * BLOCK * MANY);
  int* in = calloc(2 * 2 * BLOCK * MANY, sizeof(int));
  MPI_Datatype column, resized;
  MPI_Type_vector(BLOCK, 1, 2, MPI_INT, &column);
  MPI_Type_create_resized(column, 0, sizeof(int), &resized);
  MPI_Type_commit(&resized);
  for (int n = 0; n < MANY; ++n) {
    int* from = out + (size_t)n * 4 * BLOCK;
    for (int i = 0; i < 2 * BLOCK; ++i) from[i] = (n * 64 + rank) * 2 + i % 2;
    MPI_Ineighbor_alltoall(from, 1, resized, in + (size_t)n * 4 * BLOCK, 1, resized, comm, &requests[n]);
  }
  MPI_Type_free(&column);
  MPI_Type_free(&resized);
  MPI_Comm_free(&comm);
  for (int n = MANY; n-- > 0;) {
    MPI_Wait(&requests[n], MPI_STATUS_IGNORE);
    const int* got = in + (size_t)n * 4 * BLOCK;
    int good = 1;
    for (int i = 0; i < 2 * BLOCK; ++i) good = good && got[i] == (n * 64 + (i % 2 ? right : left)) * 2 + 1 - i % 2;
    expect(good, "an exchange of columns got something else");
  }
  free(in);
  free(out);
}

/* Rank 0 sends two where its neighbours want one. */
static void too_long(void) {
  MPI_Comm comm = ring();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int out[4] = {1, 2, 3, 4}, in[4] = {0};
  const int counts[2] = {rank == 0 ? 2 : 1, rank == 0 ? 2 : 1}, ones[2] = {1, 1}, places[2] = {0, 2};
  int code = MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, ones, places, MPI_INT, comm);
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  const int near = left == 0 || right == 0;
  expect(near ? class == MPI_ERR_TRUNCATE : code == MPI_SUCCESS, "another error than of a block that is too long");
  MPI_Request request;
  MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, in, ones, places, MPI_INT, comm, &request);
  MPI_Comm_free(&comm); /* whose error handler it still is */
  code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Error_class(code, &class);
  expect(near ? class == MPI_ERR_TRUNCATE : code == MPI_SUCCESS, "another error when the communicator is freed");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  keep_apart(1);
  keep_apart(BLOCK);
  free_early();
  if (argc > 1) too_long();
  MPI_Finalize();
  if (wrong == 0) printf("neighbour_messages: right\n");
  return wrong != 0;
}
