// SPDX-License-Identifier: BSD-3-Clause
/* Neighbourhood collectives of buffers on a false device (false_driver.c), on a ring: equal to what was sent; and where
 * one rank's buffer cannot be read the call is an error there and at its neighbours, and the next one is right again.
 *
 * device_neighbours DRIVER early|late SEED */
#include "device_buffers.h"

enum { EACH = 700 };

static MPI_Comm ring;
static int left, right;

/* One block to each side. `spoiled`: rank 0's device is broken, if it is one. */
static void exchange(int blocking, int spoiled, int round) {
  struct buffer out = fresh(2 * EACH), in = fresh(2 * EACH);
  if (rank == 0 && spoiled) {
    done(&out);
    out = (struct buffer){make(2 * EACH, 1, 0), calloc(1, 2 * EACH + 1), 2 * EACH, DEVICE};
    spoil(1);
  }
  char* plain = malloc(2 * EACH);
  for (int side = 0; side < 2; ++side) memset(plain + side * EACH, 1 + (round + 2 * rank + side) % 100, EACH);
  if (out.kind == DEVICE) {
    put(out.at, plain, 2 * EACH);
  } else {
    memcpy(out.at, plain, 2 * EACH);
  }
  int code = MPI_SUCCESS;
  MPI_Request request = MPI_REQUEST_NULL;
  if (blocking) {
    code = MPI_Neighbor_alltoall(out.at, EACH, MPI_CHAR, in.at, EACH, MPI_CHAR, ring);
  } else {
    code = MPI_Ineighbor_alltoall(out.at, EACH, MPI_CHAR, in.at, EACH, MPI_CHAR, ring, &request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 0) spoil(0);
  const int hit = spoiled && (rank == 0 || left == 0 || right == 0);
  if ((code != MPI_SUCCESS) != hit) {
    fprintf(stderr, "rank %d, round %d: code %d\n", rank, round, code);
    ++failures;
  }
  if (!spoiled) {
    memset(in.like, 1 + (round + 2 * left + 1) % 100, EACH);
    memset(in.like + EACH, 1 + (round + 2 * right) % 100, EACH);
    check(&in, blocking ? "Neighbor_alltoall" : "Ineighbor_alltoall");
  }
  free(plain);
  done(&in), done(&out);
}

int main(int argc, char** argv) {
  begin(&argc, &argv, MPI_THREAD_SINGLE);
  const int one = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &one, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  MPI_Cart_shift(ring, 0, 1, &left, &right);
  for (int round = 0; round < 24; ++round) exchange(round % 2, round % 6 == 3 || round % 6 == 4, round);
  MPI_Comm_free(&ring);
  return end();
}
