// SPDX-License-Identifier: BSD-3-Clause
#include "collective.h"

#include <stdlib.h>
#include <string.h>

#include "collective_parts.h"

static const char* const kNames[OPERATIONS] = {
    "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
    "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
    "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
    "scan",      "exscan"};

const char* operation_name(Operation operation) { return kNames[operation]; }
const char* form_name(Form form) {
  static const char* const names[] = {"blocking", "non-blocking", "non-blocking _c", "persistent", "persistent _c"};
  return names[form];
}
bool is_persistent(const Collective* c) { return c->form == INIT || c->form == INIT_LARGE; }

enum { kGuard = 96 };

Buffer allocate(MPI_Aint low, MPI_Aint high) {
  if (low > 0) low = 0;
  if (high < 0) high = 0;
  Buffer b = {.bytes = (size_t)(high - low) + 2 * kGuard};
  b.memory = malloc(b.bytes);
  b.base = b.memory + kGuard - low;
  return b;
}

static void widen(const Shape* shape, int count, MPI_Aint displacement, MPI_Aint* low, MPI_Aint* high) {
  if (count == 0) return;
  const MPI_Aint from = displacement + shape->true_lb;
  const MPI_Aint to = from + (count - 1) * shape->extent + shape->true_extent;
  if (from < *low) *low = from;
  if (to > *high) *high = to;
}

Buffer plain_buffer(const Side* side, int elements) {
  MPI_Aint low = 0;
  MPI_Aint high = 0;
  widen(&side->shape, elements, 0, &low, &high);
  return allocate(low, high);
}
static Buffer vector_buffer(const Side* side, int size) {
  MPI_Aint low = 0;
  MPI_Aint high = 0;
  for (int i = 0; i < size; ++i) {
    widen(&side->shape, side->counts[i], side->displacements[i] * side->shape.extent, &low, &high);
  }
  return allocate(low, high);
}

static int draw_units(Random* shared, int blocks) {
  const int pick = below(shared, 40);
  if (pick < 4) return 0;
  if (pick < 24) return between(shared, 1, 16);
  if (pick < 36) return between(shared, 16, 600);
  if (pick < 39) return between(shared, 600, 8000 / blocks + 601);
  return between(shared, 8000, 60000) / blocks;
}

// Blocks of a v-form, in any order, with gaps, in elements of one unit.
static void place_blocks(Side* side, int size, Random* local) {
  int order[kMaxRanks];
  for (int i = 0; i < size; ++i) order[i] = i;
  shuffle(local, order, size);
  int at = size > 1 ? below(local, 3) : 0;  // MPICH 4.0's allgatherv on one rank ignores its displacement
  for (int i = 0; i < size; ++i) {
    side->displacements[order[i]] = at;
    at += side->counts[order[i]] + below(local, 3);
  }
}

static void enlarge(Side* side, int size) {
  for (int i = 0; i < size; ++i) {
    side->large_counts[i] = side->counts[i];
    side->large_displacements[i] = side->displacements[i];
  }
}

// Units from rank i to rank j: a function of both that every rank can compute.
static int units_between(uint64_t seed, int i, int j) {
  Random r = random_of(seed, (uint64_t)i, (uint64_t)j);
  return one_in(&r, 4) ? 0 : one_in(&r, 12) ? between(&r, 0, 3000) : between(&r, 0, 40);
}

static void prepare_rooted(Collective* c, int units, Random* local) {
  const bool scatter = c->operation == SCATTER;
  Side* whole = scatter ? &c->send : &c->recv;
  Side* part = scatter ? &c->recv : &c->send;
  whole->shape = random_shape(&c->signature, units, local);
  part->shape = random_shape(&c->signature, units, local);
  Buffer* whole_buffer = scatter ? &c->outgoing : &c->got;
  Buffer* part_buffer = scatter ? &c->got : &c->outgoing;
  *whole_buffer = plain_buffer(whole, c->rank == c->root ? whole->shape.count * c->size : 0);
  *part_buffer = plain_buffer(part, part->shape.count);
}

static void prepare_rooted_vector(Collective* c, uint64_t seed, Random* local) {
  const bool scatter = c->operation == SCATTERV;
  Side* whole = scatter ? &c->send : &c->recv;
  Side* part = scatter ? &c->recv : &c->send;
  whole->shape = unit_shape(&c->signature, 0, local);
  for (int i = 0; i < c->size; ++i) whole->counts[i] = units_between(seed, i, 0);
  place_blocks(whole, c->size, local);
  enlarge(whole, c->size);
  part->shape = random_shape(&c->signature, units_between(seed, c->rank, 0), local);
  Buffer* whole_buffer = scatter ? &c->outgoing : &c->got;
  Buffer* part_buffer = scatter ? &c->got : &c->outgoing;
  *whole_buffer = c->rank == c->root ? vector_buffer(whole, c->size) : allocate(0, 0);
  *part_buffer = plain_buffer(part, part->shape.count);
}

static void prepare_all_to_all_vector(Collective* c, uint64_t seed, Random* local) {
  c->send.shape = unit_shape(&c->signature, 0, local);
  c->recv.shape = unit_shape(&c->signature, 0, local);
  for (int i = 0; i < c->size; ++i) {
    // In place both directions of a pair are equal.
    const bool swap = c->in_place && i < c->rank;
    c->send.counts[i] = units_between(seed, swap ? i : c->rank, swap ? c->rank : i);
    const bool swap_back = c->in_place && c->rank < i;
    c->recv.counts[i] = units_between(seed, swap_back ? c->rank : i, swap_back ? i : c->rank);
  }
  place_blocks(&c->send, c->size, local);
  place_blocks(&c->recv, c->size, local);
  enlarge(&c->send, c->size);
  enlarge(&c->recv, c->size);
  c->outgoing = vector_buffer(&c->send, c->size);
  c->got = vector_buffer(&c->recv, c->size);
}

static Buffer prepare_typed_blocks(Collective* c, Side* side, bool sending, uint64_t seed, Random* local) {
  MPI_Aint low = 0;
  MPI_Aint high = 0;
  MPI_Aint at = 0;
  side->shape.type = MPI_DATATYPE_NULL;
  for (int i = 0; i < c->size; ++i) {
    int from = sending ? c->rank : i;
    int to = sending ? i : c->rank;
    if (c->in_place && from > to) {
      const int keep = from;
      from = to;
      to = keep;
    }
    Shape* shape = &side->shapes[i];
    *shape = random_shape(&c->signature, units_between(seed, from, to), local);
    side->counts[i] = shape->count;
    side->types[i] = shape->type;
    // Open MPI takes a displacement for elements where the communicator has one rank: 0 is right anyhow.
    if (c->size > 1) at += shape->true_lb < 0 ? -shape->true_lb : 0;
    side->displacements[i] = (int)at;
    widen(shape, shape->count, at, &low, &high);
    if (high > at) at = high;
    at += below(local, 5);
  }
  enlarge(side, c->size);
  return allocate(low, high);
}

// Blocking, these are the MPI library's, and MPICH 5.0 writes behind its own memory where operations do not commute and
// types have an extent of their own.
static bool library_mistakes_user_operators(const Collective* c) {
#if defined(OPEN_MPI)
  (void)c;
  return false;
#else
  return c->form == BLOCKING && (c->operation == REDUCE_SCATTER || c->operation == REDUCE_SCATTER_BLOCK);
#endif
}

static void prepare_reduction(Collective* c, bool user, Random* shared, int units) {
  c->reduction = true;
  c->op = random_operator(user, shared);
  int total = units;
  if (c->operation == REDUCE_SCATTER) {
    total = 0;
    for (int i = 0; i < c->size; ++i) {
      c->recv.counts[i] = one_in(shared, 4) ? 0 : between(shared, 0, 1 + 2 * units / c->size);
      total += c->recv.counts[i];
    }
    enlarge(&c->recv, c->size);
  }
  if (c->operation == REDUCE_SCATTER_BLOCK) total = (units / c->size) * c->size;
  c->send.shape = shape_of(c->op.type, total);
  c->recv.shape = c->send.shape;
  if (c->operation == REDUCE_SCATTER_BLOCK) c->recv.shape.count = total / c->size;
  if (c->operation == REDUCE_SCATTER) c->recv.shape.count = c->recv.counts[c->rank];
  c->outgoing = plain_buffer(&c->send, total);
  c->got = plain_buffer(&c->recv, c->in_place ? total : c->recv.shape.count);
}

void prepare(Collective* c, const Communicator* where, Abilities able, Random* shared, Random* local) {
  memset(c, 0, sizeof *c);
  c->comm = where->comm;
  c->judge = where->judge;
  c->comm_name = where->name;
  c->request = MPI_REQUEST_NULL;
  MPI_Comm_size(c->comm, &c->size);
  MPI_Comm_rank(c->comm, &c->rank);
  static const Operation moving[] = {BCAST, ALLGATHER, ALLTOALL};
  const bool moves = able.mostly_moving && !one_in(shared, 4);
  if (c->size == 1) {
    able = (Abilities){
        .user_operators = able.user_operators, .blocking = able.blocking, .typed_in_place = able.typed_in_place};
  }
  c->operation = moves ? moving[below(shared, 3)] : (Operation)below(shared, OPERATIONS);
  const int pick = below(shared, 8);
  c->form = NONBLOCKING;
  if (HAVE_LARGE_COUNT && pick < 2 && c->operation != BARRIER) c->form = NONBLOCKING_LARGE;
  if (HAVE_PERSISTENT && able.persistent && pick >= 6) {
    c->form = HAVE_LARGE_COUNT && one_in(shared, 2) && c->operation != BARRIER ? INIT_LARGE : INIT;
  }
  if (able.blocking) c->form = BLOCKING;
  // Numbers drawn from `shared` must not depend on the size of the communicator: the parts of a split differ in it.
  const uint64_t root_seed = random_next(shared);
  const uint64_t block_seed = random_next(shared);
  c->root = (int)(root_seed % (uint64_t)c->size);
  c->signature = random_signature(able.derived_types, shared);
  c->free_early = one_in(shared, 4) && able.early_free;
  bool in_place = one_in(shared, 4);
  const bool at_root_only = c->operation == GATHER || c->operation == GATHERV || c->operation == SCATTER ||
                            c->operation == SCATTERV || c->operation == REDUCE;
  if (c->operation == BARRIER || c->operation == BCAST || (at_root_only && c->rank != c->root)) in_place = false;
  if (c->operation == ALLTOALLW && !able.typed_in_place) in_place = false;
  c->in_place = in_place;
  Random sizes = random_of(block_seed, 1, (uint64_t)c->size);
  const int units = draw_units(&sizes, c->size);
  switch (c->operation) {
    case BARRIER:
      c->outgoing = allocate(0, 0), c->got = allocate(0, 0);
      break;
    case BCAST:
      c->recv.shape = random_shape(&c->signature, units, local);
      c->outgoing = allocate(0, 0);
      c->got = plain_buffer(&c->recv, c->recv.shape.count);
      break;
    case GATHER:
    case SCATTER:
      prepare_rooted(c, units, local);
      break;
    case GATHERV:
    case SCATTERV:
      prepare_rooted_vector(c, block_seed, local);
      break;
    case ALLGATHER:
    case ALLTOALL:
      c->send.shape = random_shape(&c->signature, units, local);
      c->recv.shape = random_shape(&c->signature, units, local);
      c->outgoing = plain_buffer(&c->send, c->send.shape.count * (c->operation == ALLTOALL ? c->size : 1));
      c->got = plain_buffer(&c->recv, c->recv.shape.count * c->size);
      break;
    case ALLGATHERV:
      c->recv.shape = unit_shape(&c->signature, 0, local);
      for (int i = 0; i < c->size; ++i) c->recv.counts[i] = units_between(block_seed, i, 0);
      place_blocks(&c->recv, c->size, local);
      enlarge(&c->recv, c->size);
      // Open MPI chooses its algorithm by the size of the send type: ranks that differ in it hang.
      c->send.shape = unit_shape(&c->signature, c->recv.counts[c->rank], local);
      c->outgoing = plain_buffer(&c->send, c->send.shape.count);
      c->got = vector_buffer(&c->recv, c->size);
      break;
    case ALLTOALLV:
      prepare_all_to_all_vector(c, block_seed, local);
      break;
    case ALLTOALLW:
      c->outgoing = prepare_typed_blocks(c, &c->send, true, block_seed, local);
      c->got = prepare_typed_blocks(c, &c->recv, false, block_seed, local);
      break;
    default:
      prepare_reduction(c, able.user_operators && !library_mistakes_user_operators(c), &sizes, units);
      break;
  }
  c->outgoing_before = (Buffer){.memory = malloc(c->outgoing.bytes), .bytes = c->outgoing.bytes};
  c->expected = (Buffer){.memory = malloc(c->got.bytes), .bytes = c->got.bytes};
  c->expected.base = c->expected.memory + (c->got.base - c->got.memory);
}

void fill(Collective* c, Random* local) {
  Buffer* buffers[2] = {&c->outgoing, &c->got};
  for (int b = 0; b < 2; ++b) {
    uint64_t word = random_next(local) | 1;
    for (size_t i = 0; i < buffers[b]->bytes; ++i) {
      buffers[b]->memory[i] = (char)(word >> 56);
      word = word * 0xd1342543de82ef95u + 0x632be5ab;
    }
  }
  if (c->reduction) {
    fill_operands(&c->op, c->outgoing.base, c->send.shape.count, local);
    const int held = c->in_place ? c->send.shape.count : c->recv.shape.count;
    fill_operands(&c->op, c->got.base, held, local);
  }
  memcpy(c->outgoing_before.memory, c->outgoing.memory, c->outgoing.bytes);
  memcpy(c->expected.memory, c->got.memory, c->got.bytes);
}

void discard(Collective* c) {
  if (is_persistent(c)) MPI_Request_free(&c->request);
  if (c->reduction) {
    free_operator(&c->op);
  } else if (c->operation == ALLTOALLW) {
    for (int i = 0; i < c->size; ++i) {
      free_shape(&c->send.shapes[i]);
      free_shape(&c->recv.shapes[i]);
    }
  } else if (c->operation != BARRIER) {
    if (c->operation != BCAST) free_shape(&c->send.shape);
    free_shape(&c->recv.shape);
  }
  free(c->outgoing.memory);
  free(c->outgoing_before.memory);
  free(c->got.memory);
  free(c->expected.memory);
}
