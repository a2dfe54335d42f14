// SPDX-License-Identifier: BSD-3-Clause
// Counts of the _c forms, and messages of more than 2^31 bytes.
//
//     big_count [MIB]       each rank holds twice as much; without an argument 8 MiB. Exit code 77: no _c forms
#include <stdio.h>
#include <stdlib.h>

#include "features.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
#if !HAVE_LARGE_COUNT
  (void)argv;
  MPI_Finalize();
  return 77;
#else
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const MPI_Count bytes = (argc > 1 ? atoll(argv[1]) : 8) << 20;
  const MPI_Count words = bytes / 8;
  long long* data = malloc((size_t)bytes);
  long long* sum = malloc((size_t)bytes);
  if (data == NULL || sum == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int wrong = 0;
  MPI_Request request;
  for (MPI_Count i = 0; i < words; ++i) data[i] = rank == 0 ? i * 3 : -1;
  MPI_Ibcast_c(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (MPI_Count i = 0; i < words; ++i) wrong += data[i] != i * 3;
  MPI_Iallreduce_c(data, sum, words, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (MPI_Count i = 0; i < words; ++i) wrong += sum[i] != i * 3 * size;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("big_count: %lld bytes, %d wrong\n", (long long)bytes, wrong);
  free(data);
  free(sum);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
#endif
}
