// SPDX-License-Identifier: BSD-3-Clause
// Every rank of an MPI_Iallreduce must get the same bits (MPI-4.1, 6.9.1), also where the operands of an operation are
// not alike: MIN, MAX, MINLOC and MAXLOC of a NaN, or of +0 and -0; the sum and the product of NaNs with different
// payloads; an operation of the program's that commutes for all that it is used for, but not bit by bit.
//
//     same_bits       on the first 2, 3, ... ranks; prints what differs
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kOperations = 7, kValues = 3, kCounts = 3 };
typedef struct {
  double value;
  int index;
} Located;

static const char* const kNames[kOperations] = {
    "MIN", "MAX", "MINLOC", "MAXLOC", "SUM", "PROD", "the first that is no 0"};
static const char* const kWhat[kValues] = {"a NaN", "zeros of both signs", "NaNs of different payloads"};
static const int kSizes[kCounts] = {1, 5, 3000};

static void first_nonzero(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const double* left = in;
  double* right = inout;
  for (int i = 0; i < *count; ++i) {
    if (left[i] != 0) right[i] = left[i];
  }
}

// Of element i: on rank `place` the odd one.
static double value(int what, int rank, int place, int i) {
  if (what == 0) return rank == place ? (double)NAN : (double)(1 + rank + i);
  if (what == 1) return rank == place ? -0.0 : 0.0;
  const unsigned long long bits = 0x7ff8000000000000ULL + (unsigned long long)(1000 * (rank + 1) + i % 7);
  double nan_of_rank;
  memcpy(&nan_of_rank, &bits, sizeof bits);
  return nan_of_rank;
}

// How many results differ from rank 0's.
static int differing(MPI_Comm comm, int op, MPI_Op handle, int what, int place, int count, int in_place) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int pairs = op == 2 || op == 3;
  const size_t extent = pairs ? sizeof(Located) : sizeof(double), bytes = extent * (size_t)count;
  char* const in = calloc(1, bytes);
  char* const out = calloc(1, bytes);
  char* const all = malloc(bytes * (size_t)ranks);
  for (int i = 0; i < count; ++i) {
    const double here = value(what, rank, place, i);
    memcpy(in + extent * (size_t)i, &here, sizeof here);
    if (pairs) memcpy(in + extent * (size_t)i + sizeof here, &rank, sizeof rank);
  }
  if (in_place) memcpy(out, in, bytes);
  MPI_Request request;
  MPI_Iallreduce(in_place ? MPI_IN_PLACE : in, out, count, pairs ? MPI_DOUBLE_INT : MPI_DOUBLE, handle, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Gather(out, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, comm);
  int wrong = 0;
  for (int of = 1; rank == 0 && of < ranks; ++of) {
    if (memcmp(all, all + bytes * (size_t)of, bytes) == 0) continue;
    ++wrong;
    printf("%s of %s, at rank %d of %d, %d elements%s: rank %d has other bits than rank 0\n", kNames[op], kWhat[what],
           place, ranks, count, in_place ? ", in place" : "", of);
  }
  free(in);
  free(out);
  free(all);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Op own;
  MPI_Op_create(first_nonzero, 1, &own);
  const MPI_Op handles[kOperations] = {MPI_MIN, MPI_MAX, MPI_MINLOC, MPI_MAXLOC, MPI_SUM, MPI_PROD, own};
  for (int members = 2; members <= ranks; ++members) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < members ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm == MPI_COMM_NULL) continue;
    for (int op = 0; op < kOperations; ++op) {
      for (int what = 0; what < kValues; ++what) {
        for (int place = 0; place < (what == 2 ? 1 : members); ++place) {
          for (int size = 0; size < kCounts; ++size) {
            for (int in_place = 0; in_place < 2; ++in_place) {
              wrong += differing(comm, op, handles[op], what, place, kSizes[size], in_place);
            }
          }
        }
      }
    }
    MPI_Comm_free(&comm);
  }
  MPI_Op_free(&own);
  MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong != 0;
}
