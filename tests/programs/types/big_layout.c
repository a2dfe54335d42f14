// SPDX-License-Identifier: BSD-3-Clause
/* MPI_Ireduce_c with more elements than an int counts, of a type whose data do not begin where its elements do, by an
 * operation of the program's own: each byte of the root is the sum of all ranks' bytes. Exit code 77: no _c forms. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "features.h"

#if HAVE_LARGE_COUNT

enum { SHIFT = 5 };

static long long combined = 0;

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  const unsigned char* from = (unsigned char*)in + SHIFT;
  unsigned char* to = (unsigned char*)inout + SHIFT;
  for (int i = 0; i < *count; ++i) to[i] = (unsigned char)(to[i] + from[i]);
  combined += *count;
  (void)type;
}

/* What nobody writes takes no memory. */
static unsigned char* zeros(MPI_Count bytes) {
  void* made = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 1);
  return made;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const MPI_Count count = (1LL << 31) + 8;
  unsigned char* given = zeros(count + SHIFT);
  unsigned char* sum = zeros(count + SHIFT);

  const int length = 1;
  const MPI_Aint place = SHIFT;
  const MPI_Datatype byte = MPI_BYTE;
  MPI_Datatype shifted, element;
  MPI_Type_create_struct(1, &length, &place, &byte, &shifted);
  MPI_Type_create_resized(shifted, 0, 1, &element);
  MPI_Type_commit(&element);
  MPI_Op op;
  MPI_Op_create(add, 1, &op);

  given[SHIFT] = (unsigned char)(rank + 1);
  given[SHIFT + count / 2] = (unsigned char)(rank + 2);
  given[SHIFT + count - 1] = (unsigned char)(rank + 3);
  MPI_Request request;
  MPI_Ireduce_c(given, sum, count, element, op, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int wrong = 0;
  if (rank == 0) {
    wrong = sum[SHIFT] != 3 || sum[SHIFT + count / 2] != 5 || sum[SHIFT + count - 1] != 7 || sum[SHIFT + 1] != 0;
    printf("%lld of %lld elements combined, %s\n", combined, (long long)count, wrong ? "WRONG" : "right");
    wrong |= combined != count;
  }
  MPI_Op_free(&op);
  MPI_Type_free(&element);
  MPI_Type_free(&shifted);
  MPI_Finalize();
  return wrong;
}

#else

int main(void) { return 77; }

#endif
