// MPI_Iallreduce by an operation of the program's own that the kernel can compute, too: affine.bpf.c, if it is
// attached.
//
//   mpicc -O2 own_operation.c -o own_operation
//   urakata run -n 2 --hostfile hosts --engine kernel -- ./own_operation
//
// Prints the composition of all ranks' maps, the time of one reduction and how often this rank's function was called
// for it: with eBPF code about every second time (where the rank's own data came last), else for every rank in every
// one.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <urakata.h>

struct affine {
  uint64_t a, b;
};
static unsigned long long called;

// inout = inout after in
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const struct affine* const first = in;
  struct affine* const then = inout;
  for (int i = 0; i < *count; ++i) {
    then[i] = (struct affine){first[i].a * then[i].a, then[i].a * first[i].b + then[i].b};
  }
  ++called;
}

int main(int count, char** argument) {
  MPI_Init(&count, &argument);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_UINT64_T, &pair);
  MPI_Type_commit(&pair);
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  if (ura_available()) ura_op_kernel(op, "affine");

  enum { kRepetitions = 1000 };
  const struct affine own = {3 + rank, 7 * rank + 1};
  struct affine all;
  const double begin = MPI_Wtime();
  for (int i = 0; i < kRepetitions; ++i) {
    MPI_Request request;
    MPI_Iallreduce(&own, &all, 1, pair, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  const double us = (MPI_Wtime() - begin) / kRepetitions * 1e6;
  if (rank == 0) {
    printf("x -> %llu x + %llu, %.1f us, function called %.2f times a reduction\n", (unsigned long long)all.a,
           (unsigned long long)all.b, us, (double)called / kRepetitions);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
  return MPI_Finalize();
}
// SPDX-License-Identifier: BSD-3-Clause
