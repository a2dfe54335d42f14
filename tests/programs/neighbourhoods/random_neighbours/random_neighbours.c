// SPDX-License-Identifier: BSD-3-Clause
// Random neighbourhood collectives: blocking, non-blocking and persistent. What all ranks have got comes out as one
// number for each topology: under the MPI library and under Urakata it must be the same.
//
//     random_neighbours [TOPOLOGIES [SEED [FIRST]]]      prints the seed
//
// Each topology is a grid (with dimensions of one and two, periodic or not), a graph or a distributed graph with
// one-way edges, edges to oneself and several between two ranks. On each a few operations are under way at once, and
// blocking ones while they are; now and then one alone, persistent, whose blocks have 100 KiB to 2 MiB. Elements are of
// any predefined type of C, and of types made of it.
#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elements.h"
#include "features.h"
#include "random.h"

enum { kMostNeighbours = 32, kOperations = 4, kStarts = 3, kMostRanks = 16 };
enum { kSeldom = 64, kLeastLarge = 100 << 10, kMostLarge = 2 << 20 };  // large blocks: in one of so many; bytes

typedef enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, KINDS } Kind;
typedef enum { BLOCKING, NONBLOCKING, PERSISTENT_FORM } Form;
static const char* const form_names[] = {"blocking", "non-blocking", "persistent"};
static const char* const names[] = {"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"};

// One side of an operation: what the calls take.
typedef struct {
  int counts[kMostNeighbours], displacements[kMostNeighbours];
  MPI_Count large_counts[kMostNeighbours];  // the same, for the calls that end in _c
  MPI_Aint large_displacements[kMostNeighbours], bytes[kMostNeighbours];
  MPI_Datatype types[kMostNeighbours];
  MPI_Datatype type;
} Side;

typedef struct {
  Kind kind;
  Form form;
  bool large;  // by the call that ends in _c
  int base;
  Side send, recv;
  size_t bytes;  // of each buffer
  int *outgoing, *got;
  MPI_Request request;
} Operation;

typedef struct {
  MPI_Comm comm;
  const char* shape;
  int in, out;
  int sources[kMostNeighbours], destinations[kMostNeighbours];
} Topology;

static int rank, ranks;
static bool verbose;
// Of the present topology: bytes of the shortest and the longest block.
static int shortest, longest;
static bool all_large;

// Of an operation: the same in items, and in how many a block has room.
typedef struct {
  int shortest, longest, room;
} Lengths;

static Lengths lengths(int base) {
  const int extent = (int)bases[base].extent;
  const int most = longest / extent > kWhole ? longest / extent : kWhole;
  return (Lengths){
      .shortest = (shortest + extent - 1) / extent, .longest = most, .room = (3 * most / kEvenly + 1) * kEvenly};
}

static void read_neighbours(Topology* t) {
  int kind = 0;
  MPI_Topo_test(t->comm, &kind);
  if (kind == MPI_CART) {
    int dimensions = 0;
    MPI_Cartdim_get(t->comm, &dimensions);
    t->in = t->out = 2 * dimensions;
    for (int d = 0; d < dimensions; ++d) MPI_Cart_shift(t->comm, d, 1, &t->sources[2 * d], &t->sources[2 * d + 1]);
    memcpy(t->destinations, t->sources, sizeof t->sources);
  } else if (kind == MPI_GRAPH) {
    MPI_Graph_neighbors_count(t->comm, rank, &t->in);
    MPI_Graph_neighbors(t->comm, rank, t->in, t->sources);
    t->out = t->in;
    memcpy(t->destinations, t->sources, sizeof t->sources);
  } else {
    int weighted = 0;
    MPI_Dist_graph_neighbors_count(t->comm, &t->in, &t->out, &weighted);
    MPI_Dist_graph_neighbors(t->comm, t->in, t->sources, MPI_UNWEIGHTED, t->out, t->destinations, MPI_UNWEIGHTED);
  }
}

static void make_grid(Topology* t, Random* r) {
  int sizes[4] = {0}, periodic[4];
  const int dimensions = between(r, 1, 4);
  MPI_Dims_create(ranks, dimensions, sizes);
  for (int d = dimensions - 1; d > 0; --d) {  // small ones first, too
    const int other = below(r, d + 1), keep = sizes[d];
    sizes[d] = sizes[other];
    sizes[other] = keep;
  }
  for (int d = 0; d < dimensions; ++d) periodic[d] = below(r, 2);
  t->shape = "a grid";
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, periodic, one_in(r, 4), &t->comm);
}

// How many edges go from one rank to another, for all.
static void draw_edges(int edges[kMostRanks][kMostRanks], bool symmetric, Random* r) {
  for (int i = 0; i < ranks; ++i) {
    for (int j = symmetric ? i : 0; j < ranks; ++j) {
      edges[i][j] = one_in(r, 2) ? 0 : one_in(r, 4) ? 2 : 1;
      if (symmetric) edges[j][i] = edges[i][j];
    }
  }
}

static void make_graph(Topology* t, Random* r) {
  int edges[kMostRanks][kMostRanks], index[kMostRanks], list[kMostRanks * kMostNeighbours];
  draw_edges(edges, true, r);
  int total = 0;
  for (int i = 0; i < ranks; ++i) {
    for (int j = 0; j < ranks; ++j) {
      for (int e = 0; e < edges[i][j]; ++e) list[total++] = j;
    }
    index[i] = total;
  }
  t->shape = "a graph";
  MPI_Graph_create(MPI_COMM_WORLD, ranks, index, list, 0, &t->comm);
}

static void make_distributed_graph(Topology* t, Random* r) {
  int edges[kMostRanks][kMostRanks], in = 0, out = 0, sources[kMostNeighbours], destinations[kMostNeighbours];
  draw_edges(edges, one_in(r, 3), r);
  Random own = random_of(random_next(r), (uint64_t)rank, 7);
  for (int j = 0; j < ranks; ++j) {
    for (int e = 0; e < edges[rank][j]; ++e) destinations[out++] = j;
    for (int e = 0; e < edges[j][rank]; ++e) sources[in++] = j;
  }
  shuffle(&own, sources, in);
  shuffle(&own, destinations, out);
  t->shape = "a distributed graph";
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, destinations, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &t->comm);
}

// The length of the block between two ranks is a function of both, so that each can say it without the other. In items:
// a multiple of `unit`.
static int length(const Operation* o, uint64_t draw, int unit, int from, int to) {
  const Kind kind = o->kind;
  const bool even = kind == ALLGATHER || kind == ALLTOALL;
  const Lengths its = lengths(o->base);
  Random r =
      random_of(draw, even ? 0 : (uint64_t)from + 1, kind == ALLTOALLV || kind == ALLTOALLW ? (uint64_t)to + 1 : 0);
  return one_in(&r, 5) ? 0 : between(&r, (its.shortest + unit - 1) / unit, its.longest / unit) * unit;
}

static const Layout* draw_layout(int base, int unit, Random* own) {
  const Layout* const layouts = bases[base].layouts;
  if (one_in(own, 3)) return &layouts[PLAIN];
  return &layouts[below(own, unit == kWhole ? LAYOUTS : SINGLE)];
}

static void draw_side(const Operation* o, Side* side, uint64_t draw, int unit, const int* neighbours, int count,
                      bool sends, Random* own) {
  const Kind kind = o->kind;
  const int room = lengths(o->base).room;
  const Layout* const layout = draw_layout(o->base, unit, own);
  side->type = layout->type;
  for (int i = 0; i < count; ++i) {
    const int peer = neighbours[i] == MPI_PROC_NULL ? 0 : neighbours[i];
    const Layout* const its = kind != ALLTOALLW ? layout : draw_layout(o->base, unit, own);
    side->types[i] = its->type;
    side->counts[i] = length(o, draw, unit, sends ? rank : peer, sends ? peer : rank) / its->items;
    side->displacements[i] = i * room / layout->extent;
    side->bytes[i] = i * room * bases[o->base].extent;
  }
  if (kind == ALLGATHER || kind == ALLTOALL || (kind == ALLGATHERV && sends)) {
    // All alike, also where there is no neighbour.
    side->counts[0] = length(o, draw, unit, rank, rank) / layout->items;
  }
  for (int i = 0; i < kMostNeighbours; ++i) {
    side->large_counts[i] = side->counts[i];
    side->large_displacements[i] = side->displacements[i];
  }
}

static void draw_operation(Operation* o, const Topology* t, Random* shared, Random* own) {
  o->kind = (Kind)below(shared, KINDS);
  o->form = (Form)below(shared, HAVE_PERSISTENT ? 3 : 2);
  if (all_large && HAVE_PERSISTENT) o->form = PERSISTENT_FORM;
  o->base = below(shared, base_count);
  o->large = one_in(own, 2) && HAVE_LARGE_COUNT;  // each rank as it likes
  const uint64_t draw = random_next(shared);
  const int unit = one_in(shared, 2) ? kWhole : 1;
  draw_side(o, &o->send, draw, unit, t->destinations, t->out, true, own);
  draw_side(o, &o->recv, draw, unit, t->sources, t->in, false, own);
  const int most = t->in > t->out ? t->in : t->out;
  o->bytes = (size_t)(most > 0 ? most : 1) * (size_t)lengths(o->base).room * (size_t)bases[o->base].extent;
  o->outgoing = malloc(o->bytes);  // a multiple of kEvenly bytes, so of an int
  o->got = malloc(o->bytes);
}

#define UNPACK(...) __VA_ARGS__
#define CALL(name, ...) name(__VA_ARGS__)
#if HAVE_PERSISTENT
#define INIT(Name, ARGS) CALL(PERSISTENT(Name), UNPACK ARGS, MPI_INFO_NULL, request)
#else
#define INIT(Name, ARGS) abort()
#endif
#define ISSUE(Name, Iname, ARGS)             \
  if (o->form == BLOCKING)                   \
    CALL(MPI_##Name, UNPACK ARGS);           \
  else if (o->form == PERSISTENT_FORM)       \
    INIT(Name, ARGS);                        \
  else                                       \
    CALL(MPI_##Iname, UNPACK ARGS, request); \
  break

static void issue_small(const Operation* o, MPI_Comm comm, MPI_Request* request) {
  const Side *s = &o->send, *r = &o->recv;
  const int* out = o->outgoing;
  int* in = o->got;
  switch (o->kind) {
    case ALLGATHER:
      ISSUE(Neighbor_allgather, Ineighbor_allgather, (out, s->counts[0], s->type, in, r->counts[0], r->type, comm));
    case ALLGATHERV:
      ISSUE(Neighbor_allgatherv, Ineighbor_allgatherv,
            (out, s->counts[0], s->type, in, r->counts, r->displacements, r->type, comm));
    case ALLTOALL:
      ISSUE(Neighbor_alltoall, Ineighbor_alltoall, (out, s->counts[0], s->type, in, r->counts[0], r->type, comm));
    case ALLTOALLV:
      ISSUE(Neighbor_alltoallv, Ineighbor_alltoallv,
            (out, s->counts, s->displacements, s->type, in, r->counts, r->displacements, r->type, comm));
    default:
      ISSUE(Neighbor_alltoallw, Ineighbor_alltoallw,
            (out, s->counts, s->bytes, s->types, in, r->counts, r->bytes, r->types, comm));
  }
}

#if HAVE_LARGE_COUNT
#define ISSUE_LARGE(Name, Iname, ARGS)                              \
  if (o->form == BLOCKING)                                          \
    CALL(MPI_##Name##_c, UNPACK ARGS);                              \
  else if (o->form == PERSISTENT_FORM)                              \
    CALL(MPI_##Name##_init_c, UNPACK ARGS, MPI_INFO_NULL, request); \
  else                                                              \
    CALL(MPI_##Iname##_c, UNPACK ARGS, request);                    \
  break

static void issue_large(const Operation* o, MPI_Comm comm, MPI_Request* request) {
  const Side *s = &o->send, *r = &o->recv;
  const MPI_Count *sends = s->large_counts, *receives = r->large_counts;
  const int* out = o->outgoing;
  int* in = o->got;
  switch (o->kind) {
    case ALLGATHER:
      ISSUE_LARGE(Neighbor_allgather, Ineighbor_allgather, (out, sends[0], s->type, in, receives[0], r->type, comm));
    case ALLGATHERV:
      ISSUE_LARGE(Neighbor_allgatherv, Ineighbor_allgatherv,
                  (out, sends[0], s->type, in, receives, r->large_displacements, r->type, comm));
    case ALLTOALL:
      ISSUE_LARGE(Neighbor_alltoall, Ineighbor_alltoall, (out, sends[0], s->type, in, receives[0], r->type, comm));
    case ALLTOALLV:
      ISSUE_LARGE(Neighbor_alltoallv, Ineighbor_alltoallv,
                  (out, sends, s->large_displacements, s->type, in, receives, r->large_displacements, r->type, comm));
    default:
      ISSUE_LARGE(Neighbor_alltoallw, Ineighbor_alltoallw,
                  (out, sends, s->bytes, s->types, in, receives, r->bytes, r->types, comm));
  }
}
#else
static void issue_large(const Operation* o, MPI_Comm comm, MPI_Request* request) { issue_small(o, comm, request); }
#endif

static void issue(const Operation* o, MPI_Comm comm, MPI_Request* request) {
  o->large ? issue_large(o, comm, request) : issue_small(o, comm, request);
}

static uint64_t mixed(uint64_t hash, uint64_t more) {
  Random r = {hash ^ more};
  return random_next(&r);
}

// Where an MPI moves long doubles as such, and not their bytes, only numbers come through as they are, and what pads
// them does not.
static bool padded(const Operation* o) { return bases[o->base].type == MPI_LONG_DOUBLE; }

enum { kNumber = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };  // bytes of it that are not padding

static void fill(const Operation* o, Random* r) {
  if (padded(o)) {
    for (size_t at = 0; at < o->bytes; at += sizeof(long double)) {
      const long double number = (long double)(int64_t)random_next(r);
      memcpy((char*)o->outgoing + at, &number, kNumber);
    }
  } else {
    for (size_t k = 0; k < o->bytes / sizeof(int); ++k) o->outgoing[k] = (int)random_next(r);
  }
  memset(o->got, 0x55, o->bytes);
}

static uint64_t hash_of_got(const Operation* o) {
  if (padded(o)) {
    for (size_t at = 0; at < o->bytes; at += sizeof(long double)) {
      memset((char*)o->got + at + kNumber, 0, sizeof(long double) - kNumber);
    }
  }
  uint64_t hash = 0;
  for (size_t k = 0; k < o->bytes / sizeof(int); ++k) hash = mixed(hash, (unsigned)o->got[k]);
  return hash;
}

static uint64_t run(int topology, uint64_t seed) {
  Random shared = random_of(seed, (uint64_t)topology, 0), own = random_of(seed, (uint64_t)topology, (uint64_t)rank + 1);
  Topology t = {.comm = MPI_COMM_NULL};
  all_large = topology % kSeldom == 5;
  shortest = all_large ? kLeastLarge : 1;
  longest = all_large ? kMostLarge : one_in(&shared, 12) ? 48000 : one_in(&shared, 4) ? 3600 : 96;
  const int kind = below(&shared, 3);
  if (kind == 0) make_grid(&t, &shared);
  if (kind == 1) make_graph(&t, &shared);
  if (kind == 2) make_distributed_graph(&t, &shared);
  MPI_Comm_rank(t.comm, &rank);
  read_neighbours(&t);
  Operation operations[kOperations];
  const int count = all_large ? 1 : kOperations;
  for (int i = 0; i < count; ++i) {
    Operation* o = &operations[i];
    draw_operation(o, &t, &shared, &own);
    o->request = MPI_REQUEST_NULL;
    if (o->form == PERSISTENT_FORM) issue(o, t.comm, &o->request);
  }
  uint64_t hash = (uint64_t)rank;
  for (int s = 0; s < kStarts; ++s) {
    MPI_Request requests[kOperations];
    if (one_in(&own, 3)) usleep((useconds_t)below(&own, 300));  // some are late
    for (int i = 0; i < count; ++i) {
      Operation* o = &operations[i];
      fill(o, &own);
      if (o->form == PERSISTENT_FORM)
        MPI_Start(&o->request);
      else
        issue(o, t.comm, &o->request);
      requests[i] = o->request;
    }
    if (one_in(&own, 2)) {
      MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int done = 0; done != MPI_UNDEFINED;) MPI_Waitany(count, requests, &done, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < count; ++i) {
      const Operation* o = &operations[i];
      const uint64_t own_hash = hash_of_got(o);
      hash = mixed(hash, own_hash);
      if (verbose) {
        char base[MPI_MAX_OBJECT_NAME];
        int name_length;
        MPI_Type_get_name(bases[o->base].type, base, &name_length);
        fprintf(stderr, "topology %d, %s, rank %d of %d, start %d: %s %s of %s, %d in, %d out: %016llx\n", topology,
                t.shape, rank, ranks, s, form_names[o->form], names[o->kind], base, t.in, t.out,
                (unsigned long long)own_hash);
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    Operation* o = &operations[i];
    if (o->form == PERSISTENT_FORM) MPI_Request_free(&o->request);
    free(o->outgoing);
    free(o->got);
  }
  MPI_Comm_free(&t.comm);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return hash;
}

int main(int argc, char** argv) {
  const int topologies = argc > 1 ? atoi(argv[1]) : 100;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  const int first = argc > 3 ? atoi(argv[3]) : 0;
  verbose = argc > 3;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > kMostRanks) MPI_Abort(MPI_COMM_WORLD, 2);
  make_all_layouts();
  if (rank == 0) printf("random_neighbours: seed %llu, %d topologies\n", (unsigned long long)seed, topologies);
  for (int i = first; i < first + topologies; ++i) {
    const uint64_t hash = run(i, seed);
    uint64_t all = 0;
    MPI_Reduce(&hash, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("topology %d: %016llx\n", i, (unsigned long long)all);
  }
  free_layouts();
  MPI_Finalize();
  return 0;
}
