// SPDX-License-Identifier: BSD-3-Clause
#include "communicators.h"

void make_communicators(Communicator* all) {
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int n = 0;
  all[n++] = (Communicator){"world", MPI_COMM_WORLD};
  all[n].name = "dup";
  MPI_Comm_dup(MPI_COMM_WORLD, &all[n++].comm);
  all[n].name = "split in two";
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &all[n++].comm);
  all[n].name = "split reversed";
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &all[n++].comm);
  all[n].name = "self";
  MPI_Comm_dup(MPI_COMM_SELF, &all[n++].comm);

  MPI_Group world;
  MPI_Group some;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int last = size - 1;
  MPI_Group_excl(world, size > 1, &last, &some);
  all[n].name = "create_group without the last";
  all[n].comm = MPI_COMM_NULL;
  if (size == 1 || rank != last) MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &all[n].comm);
  ++n;
  MPI_Group_free(&some);
  MPI_Group_free(&world);

  int dimensions[2] = {0, 0};
  const int periods[2] = {1, 0};
  MPI_Dims_create(size, 2, dimensions);
  all[n].name = "cart";
  MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periods, 1, &all[n++].comm);

  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  all[n].name = "dist_graph";
  const int weight = 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &next, &weight, MPI_INFO_NULL, 0,
                                 &all[n++].comm);

  MPI_Request request;
  MPI_Comm* const idup = &all[n].comm;
  all[n].name = "idup";
  MPI_Comm_idup(MPI_COMM_WORLD, idup, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  ++n;
  all[n].name = "dup of the idup";
  MPI_Comm_dup(*idup, &all[n++].comm);
  all[n].name = "split of the idup";
  MPI_Comm_split(*idup, rank % 2, -rank, &all[n++].comm);
  for (int i = 0; i < n; ++i) all[i].judge = all[i].comm;
}

void let_the_library_judge(Communicator* all) {
  for (int i = 0; i < kCommunicators; ++i) {
    if (all[i].comm == MPI_COMM_NULL) continue;
    MPI_Request request;
    MPI_Comm_idup(all[i].comm, &all[i].judge, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int random_communicator(Random* shared) {
  return one_in(shared, 10) ? kKnown + below(shared, kCommunicators - kKnown) : below(shared, kKnown);
}

void choose_engines(Communicator* all, uint64_t seed) {
  // Not the MPI library: Open MPI 5's own non-blocking collectives give other bytes than its blocking ones for some
  // long messages of types with several blocks (of 50 000 cases about one), or hang.
  static const char* const engines[] = {"kernel", "thread", "poll"};
  enum { kEngines = sizeof engines / sizeof engines[0] };
  Random random = random_of(seed, 77, 0);
  for (int i = 1; i < kKnown; ++i) {
    const char* engine = engines[below(&random, kEngines)];
    if (all[i].comm == MPI_COMM_NULL) continue;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "urakata_engine", engine);
    MPI_Comm_set_info(all[i].comm, info);
    MPI_Info_free(&info);
  }
}

void free_communicators(Communicator* all) {
  for (int i = 0; i < kCommunicators; ++i) {
    if (all[i].comm == MPI_COMM_NULL) continue;
    if (all[i].judge != all[i].comm) MPI_Comm_free(&all[i].judge);
    if (i != 0) MPI_Comm_free(&all[i].comm);
  }
}
