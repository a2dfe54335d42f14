/* SPDX-License-Identifier: BSD-3-Clause */
// The collectives of suite on one communicator, in the three forms, with a check of each result.
#ifndef URAKATA_BENCH_SUITE_COLLECTIVES_H
#define URAKATA_BENCH_SUITE_COLLECTIVES_H

#include "operations.h"

// MPI_UPPER, MPI_Ilower and its completion, or MPI_UPPER_init, start, completion and free, with these arguments.
#define SUITE_RUN(s, form, UPPER, lower, ...)                   \
  do {                                                          \
    MPI_Request request = MPI_REQUEST_NULL;                     \
    if ((form) == BLOCKING) {                                   \
      MPI_##UPPER(__VA_ARGS__);                                 \
    } else if ((form) == NON_BLOCKING) {                        \
      MPI_I##lower(__VA_ARGS__, &request);                      \
      complete(s, 1, &request);                                 \
    } else {                                                    \
      MPI_##UPPER##_init(__VA_ARGS__, MPI_INFO_NULL, &request); \
      MPI_Start(&request);                                      \
      complete(s, 1, &request);                                 \
      MPI_Request_free(&request);                               \
    }                                                           \
    count_operation(s);                                         \
  } while (0)

// The first `count` integers received are the sums of what the ranks before `end` send to `to`.
static inline void expect_sums(const struct suite* s, int count, int end, int to, const char* operation) {
  for (int i = 0; i < count; ++i) {
    int sum = 0;
    for (int from = 0; from < end; ++from) sum += value(from, to, i);
    expect(s->in[i], sum, operation);
  }
}

static inline void expect_from_all(const struct suite* s, const int* counts, int stride, int to,
                                   const char* operation) {
  for (int from = 0; from < s->ranks; ++from) expect_block(s->in + from * stride, counts[from], from, to, operation);
}

// Blocks of one size.
static inline void equal_blocks(struct suite* s, enum form form) {
  const int n = 1 + draw(s, MOST), root = draw(s, s->ranks), rank = s->rank, ranks = s->ranks;
  int counts[MOST_RANKS];
  int *const out = s->out, *const in = s->in;
  const MPI_Comm comm = s->comm;
  for (int i = 0; i < ranks; ++i) counts[i] = n;

  SUITE_RUN(s, form, Barrier, barrier, comm);
  fill(s, n);
  SUITE_RUN(s, form, Bcast, bcast, rank == root ? out : in, n, MPI_INT, root, comm);
  expect_block(rank == root ? out : in, n, root, 0, "Bcast");
  SUITE_RUN(s, form, Gather, gather, out, n, MPI_INT, in, n, MPI_INT, root, comm);
  if (rank == root) expect_from_all(s, counts, n, 0, "Gather");
  fill(s, n);
  SUITE_RUN(s, form, Scatter, scatter, out, n, MPI_INT, in, n, MPI_INT, root, comm);
  expect_block(in, n, root, rank, "Scatter");
  SUITE_RUN(s, form, Allgather, allgather, out, n, MPI_INT, in, n, MPI_INT, comm);
  expect_from_all(s, counts, n, 0, "Allgather");
  fill(s, n);
  SUITE_RUN(s, form, Alltoall, alltoall, out, n, MPI_INT, in, n, MPI_INT, comm);
  expect_from_all(s, counts, n, rank, "Alltoall");
  SUITE_RUN(s, form, Reduce, reduce, out, in, n, MPI_INT, MPI_SUM, root, comm);
  if (rank == root) expect_sums(s, n, ranks, 0, "Reduce");
  fill(s, n);
  SUITE_RUN(s, form, Allreduce, allreduce, out, in, n, MPI_INT, MPI_SUM, comm);
  expect_sums(s, n, ranks, 0, "Allreduce");
  SUITE_RUN(s, form, Reduce_scatter_block, reduce_scatter_block, out, in, n, MPI_INT, MPI_SUM, comm);
  expect_sums(s, n, ranks, rank, "Reduce_scatter_block");
  SUITE_RUN(s, form, Scan, scan, out, in, n, MPI_INT, MPI_SUM, comm);
  expect_sums(s, n, rank + 1, 0, "Scan");
  SUITE_RUN(s, form, Exscan, exscan, out, in, n, MPI_INT, MPI_SUM, comm);
  if (rank > 0) expect_sums(s, n, rank, 0, "Exscan");
  memcpy(in, out, (size_t)n * sizeof *in);
  SUITE_RUN(s, form, Allreduce, allreduce, MPI_IN_PLACE, in, n, MPI_INT, MPI_SUM, comm);
  expect_sums(s, n, ranks, 0, "Allreduce in place");
}

// Blocks whose size is that of the rank they belong to, MOST integers from each other.
static inline void unequal_blocks(struct suite* s, enum form form) {
  const int n = draw(s, MOST), root = draw(s, s->ranks), rank = s->rank, ranks = s->ranks;
  const int mine = 1 + (n + rank) % MOST;
  int counts[MOST_RANKS], own[MOST_RANKS], at[MOST_RANKS], bytes_at[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
  int *const out = s->out, *const in = s->in;
  const MPI_Comm comm = s->comm;
  for (int i = 0; i < ranks; ++i) {
    counts[i] = 1 + (n + i) % MOST;
    own[i] = mine;
    at[i] = i * MOST;
    bytes_at[i] = at[i] * (int)sizeof(int);
    types[i] = MPI_INT;
  }

  fill(s, MOST);
  SUITE_RUN(s, form, Gatherv, gatherv, out, mine, MPI_INT, in, counts, at, MPI_INT, root, comm);
  if (rank == root) expect_from_all(s, counts, MOST, 0, "Gatherv");
  fill(s, MOST);
  SUITE_RUN(s, form, Scatterv, scatterv, out, counts, at, MPI_INT, in, mine, MPI_INT, root, comm);
  expect_block(in, mine, root, rank, "Scatterv");
  SUITE_RUN(s, form, Allgatherv, allgatherv, out, mine, MPI_INT, in, counts, at, MPI_INT, comm);
  expect_from_all(s, counts, MOST, 0, "Allgatherv");
  fill(s, MOST);
  SUITE_RUN(s, form, Alltoallv, alltoallv, out, counts, at, MPI_INT, in, own, at, MPI_INT, comm);
  expect_from_all(s, own, MOST, rank, "Alltoallv");
  fill(s, MOST);
  SUITE_RUN(s, form, Alltoallw, alltoallw, out, counts, bytes_at, types, in, own, bytes_at, types, comm);
  expect_from_all(s, own, MOST, rank, "Alltoallw");
  // Here the blocks are without gaps: integer i of all is value(rank, 0, i).
  for (int i = 0; i < ranks * MOST; ++i) out[i] = value(rank, 0, i);
  SUITE_RUN(s, form, Reduce_scatter, reduce_scatter, out, in, counts, MPI_INT, MPI_SUM, comm);
  int before = 0;
  for (int i = 0; i < rank; ++i) before += counts[i];
  for (int i = 0; i < mine; ++i) {
    int sum = 0;
    for (int from = 0; from < ranks; ++from) sum += value(from, 0, before + i);
    expect(in[i], sum, "Reduce_scatter");
  }
}

// On a ring: what comes from the left and from the right.
static inline void neighbours(struct suite* s, enum form form) {
  const int n = 1 + draw(s, MOST), left = (s->rank + s->ranks - 1) % s->ranks, right = (s->rank + 1) % s->ranks;
  int out[2 * MOST], in[2 * MOST];
  const int counts[2] = {n, n}, at[2] = {MOST, 0};
  for (int to = 0; to < 2; ++to)
    for (int i = 0; i < n; ++i) out[to * n + i] = value(s->rank, to, i);
  SUITE_RUN(s, form, Neighbor_allgather, neighbor_allgather, out, n, MPI_INT, in, n, MPI_INT, s->comm);
  expect_block(in, n, left, 0, "Neighbor_allgather");
  expect_block(in + n, n, right, 0, "Neighbor_allgather");
  SUITE_RUN(s, form, Neighbor_allgatherv, neighbor_allgatherv, out, n, MPI_INT, in, counts, at, MPI_INT, s->comm);
  expect_block(in + MOST, n, left, 0, "Neighbor_allgatherv");
  expect_block(in, n, right, 0, "Neighbor_allgatherv");
  SUITE_RUN(s, form, Neighbor_alltoall, neighbor_alltoall, out, n, MPI_INT, in, n, MPI_INT, s->comm);
  if (s->ranks < 3) return;  // left and right are the same rank: hosts disagree on which block is whose
  expect_block(in, n, left, 1, "Neighbor_alltoall");
  expect_block(in + n, n, right, 0, "Neighbor_alltoall");
}

// Between the ranks below `half` and the others. s->rank is that of MPI_COMM_WORLD, s->ranks those of both.
static inline void between_groups(struct suite* s, enum form form, int half) {
  const int n = 1 + draw(s, MOST), low = s->rank < half;
  const int first = low ? half : 0, remote = low ? s->ranks - half : half;
  fill(s, n);
  SUITE_RUN(s, form, Barrier, barrier, s->comm);
  SUITE_RUN(s, form, Allgather, allgather, s->out, n, MPI_INT, s->in, n, MPI_INT, s->comm);
  for (int r = 0; r < remote; ++r) expect_block(s->in + r * n, n, first + r, 0, "Allgather between groups");
  SUITE_RUN(s, form, Allreduce, allreduce, s->out, s->in, n, MPI_INT, MPI_SUM, s->comm);
  for (int i = 0; i < n; ++i) {
    int sum = 0;
    for (int r = 0; r < remote; ++r) sum += value(first + r, 0, i);
    expect(s->in[i], sum, "Allreduce between groups");
  }
  // From rank 0 to the others.
  const int root = s->rank == 0 ? MPI_ROOT : low ? MPI_PROC_NULL : 0;
  SUITE_RUN(s, form, Bcast, bcast, low ? s->out : s->in, n, MPI_INT, root, s->comm);
  if (!low) expect_block(s->in, n, 0, 0, "Bcast between groups");
}

#endif
