// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"
#include "collective_parts.h"

// The blocks of one side, each as the bytes that MPI_Pack makes of it.
typedef struct {
  Buffer packed;
  Side side;  // the same side in terms of MPI_BYTE
  int blocks;
} Packed;

typedef enum { SEND, RECV } Direction;

static int blocks_of(const Collective* c, Direction direction) {
  const int at_root = c->rank == c->root ? c->size : 0;
  switch (c->operation) {
    case BCAST:
      return direction == SEND ? 0 : 1;
    case GATHER:
    case GATHERV:
      return direction == SEND ? 1 : at_root;
    case SCATTER:
    case SCATTERV:
      return direction == SEND ? at_root : 1;
    case ALLGATHER:
    case ALLGATHERV:
      return direction == SEND ? 1 : c->size;
    default:
      return c->size;
  }
}

static bool has_counts(const Collective* c, Direction direction) {
  const bool vector = c->operation == ALLTOALLV || c->operation == ALLTOALLW;
  return vector ||
         (direction == SEND ? c->operation == SCATTERV : c->operation == GATHERV || c->operation == ALLGATHERV);
}

// Moves the side's blocks at `base` into the packed bytes, or back.
static void move_blocks(const Collective* c, Direction direction, Packed* p, char* base, bool back) {
  const Side* side = direction == SEND ? &c->send : &c->recv;
  int at = 0;
  for (int i = 0; i < p->blocks; ++i) {
    const bool typed = c->operation == ALLTOALLW;
    const Shape* shape = typed ? &side->shapes[i] : &side->shape;
    const bool vector = has_counts(c, direction);
    const int count = vector ? side->counts[i] : shape->count;
    const MPI_Aint elements = vector ? side->displacements[i] : (MPI_Aint)i * count;
    char* block = base + (typed ? side->displacements[i] : elements * shape->extent);
    int size = 0;
    MPI_Type_size(shape->type, &size);
    p->side.displacements[i] = at;
    p->side.counts[i] = count * size;
    p->side.types[i] = MPI_BYTE;
    p->side.shape.count = count * size;
    const int end = at + count * size;
    if (count == 0) continue;
    if (back) {
      MPI_Unpack(p->packed.memory, end, &at, block, count, shape->type, MPI_COMM_SELF);
    } else {
      MPI_Pack(block, count, shape->type, p->packed.memory, end, &at, MPI_COMM_SELF);
    }
    at = end;
  }
}

static Packed pack_side(const Collective* c, Direction direction, const Buffer* from) {
  Packed p = {.blocks = blocks_of(c, direction)};
  p.packed = allocate(0, (MPI_Aint)from->bytes);  // payload is never longer than the memory it comes from
  p.side.shape.type = MPI_BYTE;
  move_blocks(c, direction, &p, from->base, false);
  return p;
}

// MPICH 5.0's blocking reduce_scatter and reduce_scatter_block go wrong with operations that do not commute on types
// with a negative lower bound, and Open MPI's in place writes beyond this rank's block. So: everything by Allreduce,
// then the block.
static void scatter_blocking_reduction(const Collective* c) {
  Collective whole = *c;
  whole.operation = ALLREDUCE;
  whole.in_place = false;
  whole.comm = c->judge;
  if (c->in_place) whole.outgoing.base = c->expected.base;
  const Shape* shape = &c->send.shape;
  Buffer result = plain_buffer(&c->send, shape->count);
  const Handles h = own_handles(&whole);
  issue(&whole, BLOCKING, &h, &result, NULL);
  MPI_Aint before = 0;
  for (int i = 0; i < c->rank; ++i) {
    before += c->operation == REDUCE_SCATTER ? c->recv.counts[i] : c->recv.shape.count;
  }
  const int count = c->recv.shape.count;
  MPI_Sendrecv(result.base + before * shape->extent, count, shape->type, 0, 0, c->expected.base, count, shape->type, 0,
               0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  free(result.memory);
}

// The blocking operation into `expected`. What only moves data is done on packed bytes: the MPI libraries' blocking
// collectives go wrong on some derived types (MPICH 5.0's scatter of large types and its all-to-alls in place; types
// whose blocks are not in the order of memory), their MPI_Pack does not.
static void run_blocking(const Collective* c) {
  if (c->operation == REDUCE_SCATTER || c->operation == REDUCE_SCATTER_BLOCK) {
    scatter_blocking_reduction(c);
    return;
  }
  if (c->reduction || c->operation == BARRIER) {
    Handles h = own_handles(c);
    h.comm = c->judge;
    issue(c, BLOCKING, &h, &c->expected, NULL);
    return;
  }
  Packed out = pack_side(c, SEND, &c->outgoing);
  Packed in = pack_side(c, RECV, &c->expected);
  Collective bytes = *c;
  bytes.comm = c->judge;
  bytes.send = out.side;
  bytes.recv = in.side;
  bytes.outgoing.base = out.packed.memory;
  in.packed.base = in.packed.memory;
  const Handles h = own_handles(&bytes);
  issue(&bytes, BLOCKING, &h, &in.packed, NULL);
  move_blocks(c, RECV, &in, c->expected.base, true);
  free(out.packed.memory);
  free(in.packed.memory);
}

#if defined(OPEN_MPI)
// A blocking reduce_scatter in place may be the MPI library's own, and Open MPI's leaves something else behind this
// rank's block than what was there: nothing is asked of that.
static void overlook_behind_block(Collective* c) {
  const bool scatters = c->operation == REDUCE_SCATTER || c->operation == REDUCE_SCATTER_BLOCK;
  if (!scatters || !c->in_place || c->form != BLOCKING) return;
  const int own = c->recv.shape.count, rest = c->send.shape.count - own;
  const MPI_Aint at = own * c->send.shape.extent;
  MPI_Datatype type = c->send.shape.type;
  MPI_Sendrecv(c->expected.base + at, rest, type, 0, 0, c->got.base + at, rest, type, 0, 0, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
}
#endif

bool judge(Collective* c, char* verdict, size_t bytes) {
  if (memcmp(c->outgoing.memory, c->outgoing_before.memory, c->outgoing.bytes) != 0) {
    snprintf(verdict, bytes, "the send buffer was changed");
    return false;
  }
  run_blocking(c);
  if (c->reduction) {
    const int held = c->in_place ? c->send.shape.count : c->recv.shape.count;
    canonical(&c->op, c->got.base, held);
    canonical(&c->op, c->expected.base, held);
  }
#if defined(OPEN_MPI)
  overlook_behind_block(c);
#endif
  if (memcmp(c->got.memory, c->expected.memory, c->got.bytes) == 0) return true;
  size_t first = 0;
  while (c->got.memory[first] == c->expected.memory[first]) ++first;
  size_t differing = 0;
  for (size_t i = 0; i < c->got.bytes; ++i) differing += c->got.memory[i] != c->expected.memory[i];
  snprintf(verdict, bytes, "%zu of %zu bytes differ, the first at %td from the address: %02x, expected %02x", differing,
           c->got.bytes, c->got.memory + first - c->got.base, (unsigned char)c->got.memory[first],
           (unsigned char)c->expected.memory[first]);
  return false;
}
