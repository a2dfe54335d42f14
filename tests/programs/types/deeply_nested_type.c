// SPDX-License-Identifier: BSD-3-Clause
// Rank 0's type has more levels than Urakata follows and elements larger than the MPI library's MPI_Pack takes; its
// partners say the same bytes as MPI_BYTE.
//
//     deeply_nested_type 0|1      broadcasts no element of it, or one, of 2 GiB and 24 bytes
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 300 };
#define HALF ((size_t)1 << 30)
#define BYTES (2 * HALF + 24)

static unsigned char byte_at(size_t i) { return (unsigned char)(i * 7 + (i >> 20)); }

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = argc > 1 ? atoi(argv[1]) : 0;

  // 1 GiB, a gap of 8 bytes, 1 GiB, 24 bytes.
  MPI_Datatype half, type;
  MPI_Type_contiguous((int)HALF, MPI_BYTE, &half);
  MPI_Type_create_struct(3, (int[]){1, 1, 24}, (MPI_Aint[]){0, (MPI_Aint)HALF + 8, 2 * (MPI_Aint)HALF + 8},
                         (MPI_Datatype[]){half, half, MPI_BYTE}, &type);
  for (int level = 0; level < LEVELS; ++level) {
    MPI_Datatype deeper;
    MPI_Type_contiguous(1, type, &deeper);
    MPI_Type_free(&type);
    type = deeper;
  }
  MPI_Type_commit(&type);

  unsigned char* buffer = calloc(count ? BYTES + 8 : 1, 1);
  if (!buffer) return 77;
  if (count && rank == 0) {
    for (size_t i = 0; i < BYTES; ++i) buffer[i < HALF ? i : i + 8] = byte_at(i);
  }
  MPI_Request request;
  if (rank == 0) {
    MPI_Ibcast(buffer, count, type, 0, MPI_COMM_WORLD, &request);
  } else {
    const MPI_Datatype parts[] = {half, MPI_BYTE};
    MPI_Datatype plain;
    MPI_Type_create_struct(2, (int[]){2, 24}, (MPI_Aint[]){0, 2 * (MPI_Aint)HALF}, parts, &plain);
    MPI_Type_commit(&plain);
    MPI_Ibcast(buffer, count, count ? plain : MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    MPI_Type_free(&plain);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int one = 1, sum = 0,
      size;  // the next operation, which would miss the first where one side left it to the MPI library
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  size_t wrong = sum != size;
  if (count && rank != 0) {
    for (size_t i = 0; i < BYTES; ++i) wrong += buffer[i] != byte_at(i);
  }
  if (wrong != 0) fprintf(stderr, "deeply_nested_type: %zu wrong bytes\n", wrong);
  MPI_Type_free(&half);
  MPI_Type_free(&type);
  MPI_Finalize();
  free(buffer);
  return wrong != 0;
}
