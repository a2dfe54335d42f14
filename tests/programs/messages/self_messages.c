// SPDX-License-Identifier: BSD-3-Clause
/* MPI_COMM_SELF is the program's alone: a wildcard receive there, which is open while the first exchanges of a periodic
 * grid and of a graph with twofold edges are done, gets the program's own message, and a probe sees none before it. */
#include <mpi.h>
#include <stdio.h>

static int wrong, copied;

static void check(int right, const char* what) {
  if (!right) printf("%s: WRONG\n", what);
  wrong += !right;
}

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out;
  ++copied;
  *flag = 0;
  return MPI_SUCCESS;
}

static void exchange(MPI_Comm comm) {
  int out[2] = {1, 2}, in[2] = {0, 0}, found = 0;
  MPI_Request request;
  MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(in[0] + in[1] == 3, "an exchange");
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
  check(!found, "a message that nobody has sent");
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, key, got = 0, done = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &request);
  MPI_Comm grid, graph;
  const int one = 1, other = ranks - 1 - rank;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &one, 0, &grid);
  exchange(grid);
  const int twice[] = {other, other}, weights[] = {1, 1};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, twice, weights, 2, twice, weights, MPI_INFO_NULL, 0, &graph);
  exchange(graph);
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  check(!done && got == 0, "a receive before its message");
  const int sent = 7;
  MPI_Send(&sent, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
  MPI_Wait(&request, &status);
  check(got == 7 && status.MPI_TAG == 5, "the program's own message");
  check(copied == 0, "a duplicate of MPI_COMM_SELF that the program has not made");
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  if (wrong == 0) printf("rank %d: right\n", rank);
  MPI_Finalize();
  return wrong != 0;
}
