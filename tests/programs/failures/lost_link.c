// SPDX-License-Identifier: BSD-3-Clause
// Collectives until one fails, while the test breaks the link between two hosts. Every rank gets an error, and another
// one at once for the next collective on the same communicator. Files in the folder argv[1] say how far each rank is.
// With argv[2] "neighbours" it is one of a ring's neighbourhoods, as a persistent request, with "halo" a halo of
// urakata.h, with "sites" a blocking one that is Urakata's between sites; with "sites-fatal" likewise, but its error
// ends the job.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <urakata.h>

#include "meeting_files.h"

enum { BLOCK = 20000 };

static int size;
static const char* folder;
static MPI_Request of_neighbours = MPI_REQUEST_NULL;
static ura_halo* halo;
static int blocks;

static void prepare_neighbours(int rank, int* from, int* to) {
  const int both[2] = {(rank + size - 1) % size, (rank + 1) % size};
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  MPI_Neighbor_alltoall_init(from, BLOCK, MPI_INT, to, BLOCK, MPI_INT, ring, MPI_INFO_NULL, &of_neighbours);
}

static void prepare_halo(int rank) {
  const int both[2] = {(rank + size - 1) % size, (rank + 1) % size};
  MPI_Datatype out[2], in[2];
  for (int i = 0; i < 2; ++i) {
    MPI_Aint at[2] = {(MPI_Aint)(i * BLOCK * (int)sizeof(int)), (MPI_Aint)((1 - i) * BLOCK * (int)sizeof(int))};
    const int count = BLOCK;
    MPI_Type_create_hindexed(1, &count, &at[0], MPI_INT, &out[i]);
    MPI_Type_create_hindexed(1, &count, &at[1], MPI_INT, &in[i]);
  }
  if (ura_halo_create_types(MPI_COMM_WORLD, 2, both, out, 2, both, in, &halo) != MPI_SUCCESS) abort();
}

static int collective(int* from, int* to) {
  if (halo != NULL) {
    const int begun = ura_halo_begin(halo, from, to);
    return begun != MPI_SUCCESS ? begun : ura_halo_end(halo);
  }
  if (blocks) return MPI_Allgather(from, BLOCK, MPI_INT, to, BLOCK, MPI_INT, MPI_COMM_WORLD);
  if (of_neighbours != MPI_REQUEST_NULL) {
    const int started = MPI_Start(&of_neighbours);
    return started != MPI_SUCCESS ? started : MPI_Wait(&of_neighbours, MPI_STATUS_IGNORE);
  }
  MPI_Request request;
  const int code = MPI_Ialltoall(from, BLOCK, MPI_INT, to, BLOCK, MPI_INT, MPI_COMM_WORLD, &request);
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  folder = argv[1];
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = argc == 3 ? argv[2] : "";
  blocks = strncmp(what, "sites", 5) == 0;
  if (strcmp(what, "sites-fatal") != 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int* from = calloc((size_t)size * BLOCK, sizeof *from);
  int* to = calloc((size_t)size * BLOCK, sizeof *to);
  if (from == NULL || to == NULL) return 2;
  if (strcmp(what, "neighbours") == 0) prepare_neighbours(rank, from, to);
  if (strcmp(what, "halo") == 0) prepare_halo(rank);
  long done = 0;
  while (collective(from, to) == MPI_SUCCESS) {
    if (++done == 10) say(folder, "works", rank);
  }
  const int again = collective(from, to);
  free(from);  // nothing of the failed operations touches them any more
  free(to);
  if (again == MPI_SUCCESS) return 1;
  say(folder, "failed", rank);
  wait_for_all(folder, "failed", size);
  _exit(0);  // the host has lost the link, too
}
