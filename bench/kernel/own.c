// SPDX-License-Identifier: BSD-3-Clause
// Part `own`: reductions by an operation of the program's own, the composition of maps x -> a x + b, which does not
// commute (examples/own_operation.c, examples/affine.bpf.c). See kernel.c.
#include <stdint.h>
#include <urakata.h>

#include "kernel.h"

struct affine {
  uint64_t a, b;
};

static struct affine then(struct affine first, struct affine second) {
  return (struct affine){first.a * second.a, second.a * first.b + second.b};
}

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const struct affine* const first = in;
  struct affine* const second = inout;
  for (int i = 0; i < *count; ++i) second[i] = then(first[i], second[i]);
}

static struct affine map_of(int repetition, int rank, int element) {
  return (struct affine){3 + (uint64_t)(repetition * 7 + rank), (uint64_t)(element * 31 + rank + 1)};
}

static void measure(MPI_Datatype pair, MPI_Op op, int count, int repetitions) {
  enum { FEWEST = 50 };
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t bytes = (size_t)count * sizeof(struct affine);
  struct affine *give = allocate(bytes), *take = allocate(bytes);
  double* us = allocate((size_t)repetitions * sizeof *us);
  long wrong = 0;
  for (int i = -FEWEST; i < repetitions; ++i) {
    for (int e = 0; e < count; ++e) give[e] = map_of(i, rank, e);
    MPI_Request request;
    const double begun = now_ns();
    MPI_Iallreduce(give, take, count, pair, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (i >= 0) us[i] = (now_ns() - begun) / 1e3;
    for (int e = 0; e < count; ++e) {
      struct affine all = map_of(i, 0, e);
      for (int r = 1; r < ranks; ++r) all = then(all, map_of(i, r, e));
      wrong += take[e].a != all.a || take[e].b != all.b;
    }
  }
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &wrong, &wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (wrong != 0 && rank == 0) fail("%ld maps are not the composition of all ranks'", wrong);
  if (rank == 0) {
    sort_samples(us, repetitions);
    printf(
        "{\"part\": \"own\", \"operation\": \"iallreduce by an operation of the program's\", \"bytes\": %zu, "
        "\"ranks\": "
        "%d, \"repetitions\": %d, \"us\": %.3f, \"low_us\": %.3f, \"high_us\": %.3f}\n",
        bytes, ranks, repetitions, quantile(us, repetitions, 0.5), quantile(us, repetitions, 0.25),
        quantile(us, repetitions, 0.75));
    fflush(stdout);
  }
  free(us);
  free(take);
  free(give);
}

void measure_own(const struct settings* settings) {
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_UINT64_T, &pair);
  MPI_Type_commit(&pair);
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  if (ura_available()) ura_op_kernel(op, "affine");
  for (int i = 0; i < settings->size_count; ++i) {
    const int count = (int)(settings->sizes[i] / (long)sizeof(struct affine));
    measure(pair, op, count > 0 ? count : 1, settings->repetitions);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
}
