/* SPDX-License-Identifier: BSD-3-Clause */
// What the parts of suite share: a communicator with its number of operations, random choices that are the same on all
// ranks, integers that tell where they come from, and the ways to complete requests.
#ifndef URAKATA_BENCH_SUITE_OPERATIONS_H
#define URAKATA_BENCH_SUITE_OPERATIONS_H

#include "timing.h"

// MOST: integers of one block. A barrier comes after each BARRIER_EVERY operations.
enum { MOST = 16, MOST_RANKS = 64, BARRIER_EVERY = 5 };

enum form { BLOCKING, NON_BLOCKING, PERSISTENT };

struct suite {
  MPI_Comm comm;
  int rank, ranks;
  long operations;
  unsigned long long random;  // equal on all ranks, since all draw equally often
  int out[MOST_RANKS * MOST], in[MOST_RANKS * MOST];
};

static inline int draw(struct suite* s, int below) {
  s->random = s->random * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((s->random >> 33) % (unsigned)below);
}

// Integer i of the block that `from` sends to `to`.
static inline int value(int from, int to, int i) { return from * 10007 + to * 101 + i; }

// Block `to` of what this rank sends begins at integer to * stride.
static inline void fill(struct suite* s, int stride) {
  for (int to = 0; to < s->ranks; ++to)
    for (int i = 0; i < stride; ++i) s->out[to * stride + i] = value(s->rank, to, i);
  for (int i = 0; i < s->ranks * stride; ++i) s->in[i] = -1;
}

static inline void expect(int got, int wanted, const char* operation) {
  if (got != wanted) end_job("suite: %s gave %d instead of %d", operation, got, wanted);
}

// The first `count` integers from `at` on are what `from` sends to `to`.
static inline void expect_block(const int* at, int count, int from, int to, const char* operation) {
  for (int i = 0; i < count; ++i) expect(at[i], value(from, to, i), operation);
}

// Completes the requests in one of MPI's ways: mostly one by one, as programs do.
static inline void complete(struct suite* s, int count, MPI_Request* requests) {
  int index, done = 0, indices[2];
  switch (draw(s, 8)) {
    case 0:
      MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (int i = 0; i < count; ++i) MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
      break;
    case 2:
      for (int left = count; left > 0; left -= done) MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
      break;
    case 3:
      // Not MPI_Testall: MPICH 5.0.2 lets it fail for persistent collectives.
      for (int i = 0; i < count; ++i)
        for (done = 0; !done;) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
      break;
    default:
      for (int i = 0; i < count; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
}

static inline void count_operation(struct suite* s) {
  if (++s->operations % BARRIER_EVERY == 0) MPI_Barrier(s->comm);
}

#endif
