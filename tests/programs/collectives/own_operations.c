// SPDX-License-Identifier: BSD-3-Clause
// Reductions by operations of the program's own that may be eBPF code's (ura_op_kernel), in random order and size.
//
//     own_operations right ROUNDS SEED    MPI_Iallreduce and MPI_Ireduce by two operations, of which one does not commute,
//                                         several at a time, against what each rank computes by itself
//     own_operations refused              what ura_op_kernel refuses: the same on all ranks, and nothing is changed
//
// "right" prints how many were wrong, and how often the ranks' functions were called for an element.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urakata.h>

#include "random.h"

struct affine {
  uint64_t a, b;
};
struct extreme {
  int value, place;
};
enum { kMost = 120, kAtATime = 12 };  // more than a communicator has cells for

static int rank, ranks;
static unsigned long long called;

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const struct affine* const first = in;
  struct affine* const then = inout;
  for (int i = 0; i < *count; ++i) {
    then[i] = (struct affine){first[i].a * then[i].a, then[i].a * first[i].b + then[i].b};
  }
  called += (unsigned)*count;
}

// Of equal ones that of the lower place.
static void max_and_place(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const struct extreme* const left = in;
  struct extreme* const right = inout;
  for (int i = 0; i < *count; ++i) {
    const int stays = right[i].value != left[i].value ? right[i].value > left[i].value : right[i].place < left[i].place;
    if (!stays) right[i] = left[i];
  }
  called += (unsigned)*count;
}

// One reduction: of both operations' elements, of which one is used.
struct reduction {
  int own;   // which operation
  int root;  // -1: all have it
  int in_place;
  int elements;
  struct affine maps[kMost], composed[kMost];
  struct extreme values[kMost], largest[kMost];
  MPI_Request request;
};

static void give(struct reduction* one, uint64_t seed, int of) {
  Random random = random_of(seed, 77, (uint64_t)of);
  for (int i = 0; i < one->elements; ++i) {
    one->maps[i] = (struct affine){random_next(&random), random_next(&random)};
    one->values[i] = (struct extreme){below(&random, 3), of};
  }
}

static int is_right(struct reduction* one, uint64_t seed) {
  if (one->root >= 0 && one->root != rank) return 1;
  static struct reduction expected;
  static struct reduction next;
  expected.elements = next.elements = one->elements;
  const unsigned long long before = called;
  give(&expected, seed, 0);
  for (int other = 1; other < ranks; ++other) {
    give(&next, seed, other);
    compose(expected.maps, next.maps, &one->elements, NULL);
    max_and_place(expected.values, next.values, &one->elements, NULL);
    memcpy(expected.maps, next.maps, sizeof next.maps);
    memcpy(expected.values, next.values, sizeof next.values);
  }
  called = before;
  const size_t elements = (size_t)one->elements;
  return one->own == 0 ? memcmp(expected.maps, one->composed, elements * sizeof *one->maps) == 0
                       : memcmp(expected.values, one->largest, elements * sizeof *one->values) == 0;
}

static void start(struct reduction* one, MPI_Datatype type, MPI_Op op) {
  void* from = one->own == 0 ? (void*)one->maps : (void*)one->values;
  void* to = one->own == 0 ? (void*)one->composed : (void*)one->largest;
  if (one->in_place && (one->root < 0 || one->root == rank)) {
    memcpy(to, from, sizeof one->maps > sizeof one->values ? (size_t)one->elements * (one->own == 0 ? 16 : 8) : 0);
    from = MPI_IN_PLACE;
  }
  if (one->root < 0) {
    MPI_Iallreduce(from, to, one->elements, type, op, MPI_COMM_WORLD, &one->request);
  } else {
    MPI_Ireduce(from, to, one->elements, type, op, one->root, MPI_COMM_WORLD, &one->request);
  }
}

static int right(int rounds, uint64_t seed) {
  MPI_Datatype types[2];
  MPI_Type_contiguous(2, MPI_UINT64_T, &types[0]);
  MPI_Type_contiguous(2, MPI_INT, &types[1]);
  MPI_Op ops[2];
  MPI_Op_create(compose, 0, &ops[0]);
  MPI_Op_create(max_and_place, 1, &ops[1]);
  for (int i = 0; i < 2; ++i) MPI_Type_commit(&types[i]);
  if (ura_available() &&
      (ura_op_kernel(ops[0], "affine") != MPI_SUCCESS || ura_op_kernel(ops[1], "max_and_place") != MPI_SUCCESS))
    return 2;
  static struct reduction all[kAtATime];
  unsigned long long wrong = 0;
  unsigned long long elements = 0;
  for (int round = 0; round < rounds; ++round) {
    Random same = random_of(seed, (uint64_t)round, 0);
    const int count = between(&same, 1, kAtATime);
    for (int i = 0; i < count; ++i) {
      struct reduction* const one = &all[i];
      one->own = below(&same, 2);
      one->root = one_in(&same, 2) ? -1 : below(&same, ranks);
      one->in_place = one_in(&same, 3);
      one->elements = one_in(&same, 2) ? between(&same, 1, 4) : between(&same, 0, kMost);
      give(one, seed + (uint64_t)(round * kAtATime + i), rank);
      if (one->root < 0 || one->root == rank) elements += (unsigned)one->elements;
      start(one, types[one->own], ops[one->own]);
    }
    for (int i = 0; i < count; ++i) {
      MPI_Wait(&all[i].request, MPI_STATUS_IGNORE);
      if (!is_right(&all[i], seed + (uint64_t)(round * kAtATime + i))) ++wrong;
    }
  }
  unsigned long long sums[3] = {wrong, called, elements};
  MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("seed %llu: %llu wrong, %.3f calls an element\n", (unsigned long long)seed, sums[0],
           (double)sums[1] / (double)sums[2] / (ranks - 1));
  for (int i = 0; i < 2; ++i) {
    MPI_Op_free(&ops[i]);
    MPI_Type_free(&types[i]);
  }
  return sums[0] != 0;
}

static int expect(int code, int expected, const char* what) {
  int class;
  MPI_Error_class(code, &class);
  if (class == expected) return 0;
  fprintf(stderr, "own_operations: rank %d: %s: class %d\n", rank, what, class);
  return 1;
}

static int refused(void) {
  MPI_Op op;
  MPI_Op_create(max_and_place, 1, &op);
  int wrong = expect(ura_op_kernel(MPI_SUM, "sum"), MPI_ERR_OP, "a predefined operation");
  wrong += expect(ura_op_kernel(rank == 0 ? MPI_OP_NULL : op, "max_and_place"), rank == 0 ? MPI_ERR_OP : MPI_ERR_ARG,
                  "none on rank 0");
  wrong += expect(ura_op_kernel(op, rank == 0 ? "max_and_place" : "other"), MPI_ERR_ARG, "different names");
  wrong += expect(ura_op_kernel(op, ""), MPI_ERR_ARG, "no name");
  wrong += expect(ura_op_kernel(op, NULL), MPI_ERR_ARG, "null");
  wrong += expect(ura_op_kernel(op, "a name that has many more characters"), MPI_ERR_ARG, "a long name");
  wrong += expect(ura_op_kernel(op, "max_and_place"), MPI_SUCCESS, "a good one");
  wrong += expect(ura_op_kernel(op, "max_and_place"), MPI_SUCCESS, "again");
  wrong += expect(ura_op_kernel(op, "other"), MPI_ERR_ARG, "another name");
  MPI_Op_free(&op);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", wrong);
  return wrong != 0;
}

int main(int count, char** argument) {
  MPI_Init(&count, &argument);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int code = 2;
  if (count == 4 && strcmp(argument[1], "right") == 0) code = right(atoi(argument[2]), strtoull(argument[3], NULL, 10));
  if (count == 2 && strcmp(argument[1], "refused") == 0) code = refused();
  MPI_Finalize();
  return code;
}
