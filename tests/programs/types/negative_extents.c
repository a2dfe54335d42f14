// SPDX-License-Identifier: BSD-3-Clause
// A contiguous type over one whose extent is negative has its elements where the standard says. Three blocks of four
// bytes lie 9 bytes apart, each below the one before: the type begins at -12, and its extent is 9. So two elements have
// their blocks at 0, -9, -18 and at 9, 0, -9 from the buffer. With the word `messages` a
// message is tried, too, which is Urakata's inside a space.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kBytes = 128, kMiddle = 64 };

static int rank;
static signed char from[kBytes], to[kBytes];

static void check(const char* what) {
  static const int blocks[] = {0, -9, -18, 9, 0, -9};
  signed char right[kBytes];
  memset(right, -1, kBytes);
  for (int i = 0; i < 6; ++i) memcpy(right + kMiddle + blocks[i], from + kMiddle + blocks[i], 4);
  if (memcmp(to, right, kBytes) == 0) return;
  for (int i = 0; i < kBytes; ++i) {
    if (to[i] != right[i]) fprintf(stderr, "%s: byte %d is %d, not %d\n", what, i - kMiddle, to[i], right[i]);
  }
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Datatype bytes, below, type;
  MPI_Aint lower, extent;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_contiguous(4, MPI_BYTE, &bytes);
  MPI_Type_create_resized(bytes, 6, -9, &below);
  MPI_Type_contiguous(3, below, &type);
  MPI_Type_commit(&type);
  MPI_Type_get_extent(type, &lower, &extent);
  if (lower != -12 || extent != 9) return fprintf(stderr, "begins at %ld, extent %ld\n", (long)lower, (long)extent), 1;
  for (int i = 0; i < kBytes; ++i) from[i] = (signed char)i;
  memset(to, -1, kBytes);
  MPI_Ibcast((rank == 0 ? from : to) + kMiddle, 2, type, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) check("MPI_Ibcast");
  memset(to, -1, kBytes);
  if (argc > 1 && rank == 0) MPI_Send(from + kMiddle, 2, type, 1, 0, MPI_COMM_WORLD);
  if (argc > 1 && rank == 1) {
    MPI_Recv(to + kMiddle, 2, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check("a message");
  }
  MPI_Type_free(&below);
  MPI_Type_free(&bytes);
  MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
