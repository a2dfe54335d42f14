/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of the overlap benchmark, collectives and messages: how each is started, which buffers it needs, and
 * what must come out.

   "bytes" is what one rank contributes to one receiver, as in the OSU benchmarks: a rank's block for allgather,
   alltoall, gather, scatter and reduce_scatter_block, the whole buffer for the others. Reductions add floats, or
   unsigned chars where the bytes are no multiple of four. The root is rank 0.

   Every block is filled with one small number, so what must come out is one number for each block too. */
#ifndef URAKATA_BENCH_OVERLAP_OPERATIONS_H
#define URAKATA_BENCH_OVERLAP_OPERATIONS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct call {
  void *send, *recv;
  size_t bytes; /* of one block */
  int rank, ranks;
  int *counts, *displacements; /* of the v-forms: equal blocks, one after another */
};

/* The neighbourhood collectives' graph: on a ring of ranks each one's neighbours are the one before and the one after,
   or its only other one. */
static int neighbour_count(const struct call* c) { return c->ranks > 2 ? 2 : c->ranks - 1; }
static int neighbour(const struct call* c, int block) { return (c->rank + (block == 0 ? c->ranks - 1 : 1)) % c->ranks; }
static MPI_Comm neighbours(const struct call* c) {
  static MPI_Comm graph = MPI_COMM_NULL;
  if (graph == MPI_COMM_NULL) {
    const int ranks[2] = {neighbour(c, 0), neighbour(c, 1)};
    const int weights[2] = {1, 1};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, neighbour_count(c), ranks, weights, neighbour_count(c), ranks,
                                   weights, MPI_INFO_NULL, 0, &graph);
  }
  return graph;
}

enum blocks { NONE, ONE, ALL };

struct operation {
  const char* name;
  enum blocks send, recv; /* blocks in the buffers: one, or one for each rank */
  int reduces;
  int root_only; /* only rank 0 receives */
  int (*start)(const struct call* c, MPI_Request* request);
  /* The number in block `block` of this rank's receive buffer; -1: undefined. */
  int (*expected)(const struct call* c, int block);
};

/* What rank `from` sends to rank `to`. Small enough that no sum over up to 5000 ranks leaves a float's exact range. */
static int token(int from, int to) { return 1 + (from * 3 + to) % 100; }

static int is_float(const struct call* c) { return c->bytes % sizeof(float) == 0; }
static MPI_Datatype reduced_type(const struct call* c) { return is_float(c) ? MPI_FLOAT : MPI_UNSIGNED_CHAR; }
static int reduced_count(const struct call* c) { return (int)(is_float(c) ? c->bytes / sizeof(float) : c->bytes); }

static int start_ibarrier(const struct call* c, MPI_Request* q) {
  (void)c;
  return MPI_Ibarrier(MPI_COMM_WORLD, q);
}
static int start_ibcast(const struct call* c, MPI_Request* q) {
  return MPI_Ibcast(c->rank == 0 ? c->send : c->recv, (int)c->bytes, MPI_BYTE, 0, MPI_COMM_WORLD, q);
}
static int start_igather(const struct call* c, MPI_Request* q) {
  return MPI_Igather(c->send, (int)c->bytes, MPI_BYTE, c->recv, (int)c->bytes, MPI_BYTE, 0, MPI_COMM_WORLD, q);
}
static int start_iscatter(const struct call* c, MPI_Request* q) {
  return MPI_Iscatter(c->send, (int)c->bytes, MPI_BYTE, c->recv, (int)c->bytes, MPI_BYTE, 0, MPI_COMM_WORLD, q);
}
static int start_iallgather(const struct call* c, MPI_Request* q) {
  return MPI_Iallgather(c->send, (int)c->bytes, MPI_BYTE, c->recv, (int)c->bytes, MPI_BYTE, MPI_COMM_WORLD, q);
}
static int start_iallgatherv(const struct call* c, MPI_Request* q) {
  return MPI_Iallgatherv(c->send, (int)c->bytes, MPI_BYTE, c->recv, c->counts, c->displacements, MPI_BYTE,
                         MPI_COMM_WORLD, q);
}
static int start_ialltoall(const struct call* c, MPI_Request* q) {
  return MPI_Ialltoall(c->send, (int)c->bytes, MPI_BYTE, c->recv, (int)c->bytes, MPI_BYTE, MPI_COMM_WORLD, q);
}
static int start_ialltoallv(const struct call* c, MPI_Request* q) {
  return MPI_Ialltoallv(c->send, c->counts, c->displacements, MPI_BYTE, c->recv, c->counts, c->displacements, MPI_BYTE,
                        MPI_COMM_WORLD, q);
}
static int start_ineighbor_alltoall(const struct call* c, MPI_Request* q) {
  return MPI_Ineighbor_alltoall(c->send, (int)c->bytes, MPI_BYTE, c->recv, (int)c->bytes, MPI_BYTE, neighbours(c), q);
}
static int start_ineighbor_alltoallv(const struct call* c, MPI_Request* q) {
  return MPI_Ineighbor_alltoallv(c->send, c->counts, c->displacements, MPI_BYTE, c->recv, c->counts, c->displacements,
                                 MPI_BYTE, neighbours(c), q);
}
static int start_ireduce(const struct call* c, MPI_Request* q) {
  return MPI_Ireduce(c->send, c->recv, reduced_count(c), reduced_type(c), MPI_SUM, 0, MPI_COMM_WORLD, q);
}
static int start_iallreduce(const struct call* c, MPI_Request* q) {
  return MPI_Iallreduce(c->send, c->recv, reduced_count(c), reduced_type(c), MPI_SUM, MPI_COMM_WORLD, q);
}
static int start_ireduce_scatter_block(const struct call* c, MPI_Request* q) {
  return MPI_Ireduce_scatter_block(c->send, c->recv, reduced_count(c), reduced_type(c), MPI_SUM, MPI_COMM_WORLD, q);
}
static int start_iscan(const struct call* c, MPI_Request* q) {
  return MPI_Iscan(c->send, c->recv, reduced_count(c), reduced_type(c), MPI_SUM, MPI_COMM_WORLD, q);
}
static int start_iexscan(const struct call* c, MPI_Request* q) {
  return MPI_Iexscan(c->send, c->recv, reduced_count(c), reduced_type(c), MPI_SUM, MPI_COMM_WORLD, q);
}

/* The program's own messages on a ring: to the rank after, from the one before. The request that the caller gets is the
   receive's; the send's is here, and finish() and probe() end both. Of two ranks the bytes of `sockets`. */
static MPI_Request ring_send = MPI_REQUEST_NULL;
static int rank_before(const struct call* c) { return (c->rank + c->ranks - 1) % c->ranks; }
static int start_isend(const struct call* c, MPI_Request* q) {
  const int from = rank_before(c), bytes = (int)c->bytes;
  MPI_Irecv((char*)c->recv + (size_t)from * c->bytes, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, q);
  return MPI_Isend(c->send, bytes, MPI_BYTE, (c->rank + 1) % c->ranks, 0, MPI_COMM_WORLD, &ring_send);
}

/* Sum of what the ranks below `below` send to `to`. */
static int sum_below(int below, int to) {
  int sum = 0;
  for (int from = 0; from < below; ++from) sum += token(from, to);
  return sum;
}

static int nothing(const struct call* c, int block) {
  (void)c, (void)block;
  return -1;
}
static int from_root(const struct call* c, int block) {
  (void)block;
  return c->rank == 0 ? -1 : token(0, 0);
}
static int from_each(const struct call* c, int block) {
  (void)c;
  return token(block, 0);
}
static int from_each_to_me(const struct call* c, int block) { return token(block, c->rank); }
/* The one before sends its last block, the one after its first. */
static int from_neighbour(const struct call* c, int block) {
  if (block >= neighbour_count(c)) return -1;
  return token(neighbour(c, block), neighbour_count(c) - 1 - block);
}
static int from_one_before(const struct call* c, int block) { return block == rank_before(c) ? token(block, 0) : -1; }
static int from_root_to_me(const struct call* c, int block) {
  (void)block;
  return token(0, c->rank);
}
static int sum_all(const struct call* c, int block) {
  (void)block;
  return sum_below(c->ranks, 0);
}
static int sum_to_me(const struct call* c, int block) {
  (void)block;
  return sum_below(c->ranks, c->rank);
}
static int sum_up_to_me(const struct call* c, int block) {
  (void)block;
  return sum_below(c->rank + 1, 0);
}
static int sum_before_me(const struct call* c, int block) {
  (void)block;
  return c->rank == 0 ? -1 : sum_below(c->rank, 0);
}

static const struct operation operations[] = {
    {"iallgather", ONE, ALL, 0, 0, start_iallgather, from_each},
    {"iallgatherv", ONE, ALL, 0, 0, start_iallgatherv, from_each},
    {"iallreduce", ONE, ONE, 1, 0, start_iallreduce, sum_all},
    {"ialltoall", ALL, ALL, 0, 0, start_ialltoall, from_each_to_me},
    {"ialltoallv", ALL, ALL, 0, 0, start_ialltoallv, from_each_to_me},
    {"ibarrier", NONE, NONE, 0, 0, start_ibarrier, nothing},
    {"ibcast", ONE, ONE, 0, 0, start_ibcast, from_root},
    {"iexscan", ONE, ONE, 1, 0, start_iexscan, sum_before_me},
    {"igather", ONE, ALL, 0, 1, start_igather, from_each},
    {"ineighbor_alltoall", ALL, ALL, 0, 0, start_ineighbor_alltoall, from_neighbour},
    {"ineighbor_alltoallv", ALL, ALL, 0, 0, start_ineighbor_alltoallv, from_neighbour},
    {"ireduce", ONE, ONE, 1, 1, start_ireduce, sum_all},
    {"ireduce_scatter_block", ALL, ONE, 1, 0, start_ireduce_scatter_block, sum_to_me},
    {"iscan", ONE, ONE, 1, 0, start_iscan, sum_up_to_me},
    {"isend", ONE, ALL, 0, 0, start_isend, from_one_before},
    {"iscatter", ALL, ONE, 0, 0, start_iscatter, from_root_to_me},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static const struct operation* operation_named(const char* name) {
  for (int i = 0; i < OPERATIONS; ++i) {
    if (strcmp(name, operations[i].name) == 0) return &operations[i];
  }
  return NULL;
}

static size_t blocks_of(enum blocks blocks, int ranks) {
  return blocks == NONE ? 0 : blocks == ONE ? 1 : (size_t)ranks;
}

static void fill_block(const struct operation* op, const struct call* c, void* block, int value) {
  if (op->reduces && is_float(c)) {
    float* element = block;
    for (size_t i = 0; i < c->bytes / sizeof(float); ++i) element[i] = (float)value;
  } else {
    memset(block, value, c->bytes);
  }
}

static void fill(const struct operation* op, const struct call* c) {
  const int blocks = (int)blocks_of(op->send, c->ranks);
  for (int i = 0; i < blocks; ++i) fill_block(op, c, (char*)c->send + (size_t)i * c->bytes, token(c->rank, i));
}

/* Whether the receive buffer holds what the operation must have put there. */
static int correct(const struct operation* op, const struct call* c) {
  if (op->root_only && c->rank != 0) return 1;
  const int blocks = (int)blocks_of(op->recv, c->ranks);
  for (int block = 0; block < blocks; ++block) {
    const int value = op->expected(c, block);
    if (value < 0) continue;
    const char* at = (const char*)c->recv + (size_t)block * c->bytes;
    if (op->reduces && is_float(c)) {
      const float* element = (const float*)(const void*)at;
      for (size_t i = 0; i < c->bytes / sizeof(float); ++i) {
        if (element[i] != (float)value) return 0;
      }
    } else {
      for (size_t i = 0; i < c->bytes; ++i) {
        if ((unsigned char)at[i] != (unsigned char)value) return 0;
      }
    }
  }
  return 1;
}

#endif
