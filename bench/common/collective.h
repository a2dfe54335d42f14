/* SPDX-License-Identifier: BSD-3-Clause */
// The non-blocking collectives that nbc and start measure: one way to start each, and a check that its result is right.
#ifndef URAKATA_BENCH_COLLECTIVE_H
#define URAKATA_BENCH_COLLECTIVE_H

#include <string.h>

#include "timing.h"

enum operation { IBCAST, IALLGATHER, IALLREDUCE, IALLTOALL, OPERATIONS };

static const char* const operation_names[OPERATIONS] = {"ibcast", "iallgather", "iallreduce", "ialltoall"};

// Buffers of one rank, large enough for every size that is measured. `bytes` below is OSU's message size: the whole
// buffer of Ibcast and Iallreduce, one rank's block of Iallgather and Ialltoall. Iallreduce adds floats: a multiple of
// four.
struct buffers {
  unsigned char* send;
  unsigned char* receive;
  int rank, ranks;
};

static inline enum operation find_operation(const char* name) {
  for (int i = 0; i < OPERATIONS; ++i)
    if (strcmp(name, operation_names[i]) == 0) return (enum operation)i;
  fail("unknown operation '%s'; there are ibcast, iallgather, iallreduce, ialltoall", name);
  return OPERATIONS;
}

static inline struct buffers make_buffers(size_t largest) {
  struct buffers buffers;
  MPI_Comm_rank(MPI_COMM_WORLD, &buffers.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &buffers.ranks);
  const size_t bytes = largest * (size_t)buffers.ranks;
  buffers.send = allocate(bytes);
  buffers.receive = allocate(bytes);
  memset(buffers.send, 0, bytes);
  memset(buffers.receive, 0, bytes);
  return buffers;
}

static inline void free_buffers(struct buffers* buffers) {
  free(buffers->send);
  free(buffers->receive);
}

static inline MPI_Request start(enum operation operation, int bytes, const struct buffers* b) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (operation) {
    case IBCAST:
      MPI_Ibcast(b->receive, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
      break;
    case IALLGATHER:
      MPI_Iallgather(b->send, bytes, MPI_BYTE, b->receive, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
      break;
    case IALLREDUCE:
      MPI_Iallreduce(b->send, b->receive, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
      break;
    case IALLTOALL:
      MPI_Ialltoall(b->send, bytes, MPI_BYTE, b->receive, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
      break;
    case OPERATIONS:
      break;
  }
  return request;
}

// Byte i of the block that `from` sends to `to`.
static inline unsigned char pattern(int from, int to, int i) {
  return (unsigned char)(from * 101 + to * 59 + i * 7 + 1);
}

// Runs the operation once on known data and ends the job where the result is wrong: a fast wrong answer is no result.
static inline void check_operation(enum operation operation, int bytes, const struct buffers* b) {
  const int blocks = operation == IALLGATHER || operation == IALLTOALL ? b->ranks : 1;
  memset(b->receive, 0, (size_t)bytes * (size_t)blocks);
  if (operation == IALLREDUCE) {
    for (int i = 0; i < bytes / 4; ++i) ((float*)b->send)[i] = (float)(b->rank + i % 64);
  } else {
    unsigned char* const out = operation == IBCAST ? b->receive : b->send;
    const int out_blocks = operation == IALLTOALL ? b->ranks : 1;
    for (int to = 0; to < out_blocks && (operation != IBCAST || b->rank == 0); ++to)
      for (int i = 0; i < bytes; ++i) out[(size_t)to * (size_t)bytes + (size_t)i] = pattern(b->rank, to, i);
  }
  MPI_Request request = start(operation, bytes, b);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  int right = 1;
  if (operation == IALLREDUCE) {
    const int own_parts = b->ranks * (b->ranks - 1) / 2;
    for (int i = 0; i < bytes / 4; ++i) right &= ((float*)b->receive)[i] == (float)(own_parts + b->ranks * (i % 64));
  } else {
    for (int from = 0; from < blocks; ++from)
      for (int i = 0; i < bytes; ++i)
        right &= b->receive[(size_t)from * (size_t)bytes + (size_t)i] ==
                 pattern(from, operation == IALLTOALL ? b->rank : 0, i);
  }
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (!right) fail("%s of %d bytes gave a wrong result", operation_names[operation], bytes);
}

#endif
