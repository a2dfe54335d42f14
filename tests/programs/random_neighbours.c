// Random neighbourhood collectives: blocking, non-blocking and persistent. What all ranks have got comes out as one
// number for each topology: under the host and under Urakata it must be the same.
//
//     random_neighbours [TOPOLOGIES [SEED [FIRST]]]      prints the seed
//
// Each topology is a grid (with dimensions of one and two, periodic or not), a graph or a distributed graph with one-way
// edges, edges to oneself and several between two ranks. On each a few operations are under way at once, and blocking
// ones while they are.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "features.h"
#include "random.h"

enum { kMostNeighbours = 32, kOperations = 4, kStarts = 3, kMostRanks = 16 };

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
  Side send, recv;
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
static MPI_Datatype spaced;   // an int, and two that are left alone
static MPI_Datatype shifted;  // an int between two that are left alone
// Of the present topology: elements of the longest block, ints that a block has room in, and bytes of a buffer.
static int longest, room;
static size_t buffer_bytes;

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

// The length of the block between two ranks is a function of both, so that each can say it without the other.
static int length(Kind kind, uint64_t draw, int from, int to) {
  const bool even = kind == ALLGATHER || kind == ALLTOALL;
  Random r =
      random_of(draw, even ? 0 : (uint64_t)from + 1, kind == ALLTOALLV || kind == ALLTOALLW ? (uint64_t)to + 1 : 0);
  return one_in(&r, 5) ? 0 : between(&r, 1, longest);
}

static MPI_Datatype draw_type(Random* own) {
  const int which = below(own, 4);
  return which < 2 ? MPI_INT : which == 2 ? spaced : shifted;
}

static void draw_side(Side* side, Kind kind, uint64_t draw, const int* neighbours, int count, bool sends, Random* own) {
  side->type = draw_type(own);
  for (int i = 0; i < count; ++i) {
    const int peer = neighbours[i] == MPI_PROC_NULL ? 0 : neighbours[i];
    const int elements = length(kind, draw, sends ? rank : peer, sends ? peer : rank);
    side->types[i] = kind != ALLTOALLW ? side->type : draw_type(own);
    side->counts[i] = elements;
    side->displacements[i] = i * room / (side->type == MPI_INT ? 1 : 3);
    side->bytes[i] = (MPI_Aint)(i * room) * (MPI_Aint)sizeof(int);
  }
  if (kind == ALLGATHER || kind == ALLTOALL || (kind == ALLGATHERV && sends)) {
    side->counts[0] = length(kind, draw, rank, rank);  // all alike, also where there is no neighbour
  }
  for (int i = 0; i < kMostNeighbours; ++i) {
    side->large_counts[i] = side->counts[i];
    side->large_displacements[i] = side->displacements[i];
  }
}

static void draw_operation(Operation* o, const Topology* t, Random* shared, Random* own) {
  o->kind = (Kind)below(shared, KINDS);
  o->form = (Form)below(shared, HAVE_PERSISTENT ? 3 : 2);
  o->large = one_in(own, 2) && HAVE_LARGE_COUNT;  // each rank as it likes
  const uint64_t draw = random_next(shared);
  draw_side(&o->send, o->kind, draw, t->destinations, t->out, true, own);
  draw_side(&o->recv, o->kind, draw, t->sources, t->in, false, own);
  o->outgoing = malloc(buffer_bytes);
  o->got = malloc(buffer_bytes);
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

static uint64_t run(int topology, uint64_t seed) {
  Random shared = random_of(seed, (uint64_t)topology, 0), own = random_of(seed, (uint64_t)topology, (uint64_t)rank + 1);
  Topology t = {.comm = MPI_COMM_NULL};
  longest = one_in(&shared, 12) ? 12000 : one_in(&shared, 4) ? 900 : 24;
  room = 3 * longest + 12;
  buffer_bytes = (size_t)kMostNeighbours * (size_t)room * sizeof(int);
  const int kind = below(&shared, 3);
  if (kind == 0) make_grid(&t, &shared);
  if (kind == 1) make_graph(&t, &shared);
  if (kind == 2) make_distributed_graph(&t, &shared);
  MPI_Comm_rank(t.comm, &rank);
  read_neighbours(&t);
  Operation operations[kOperations];
  for (int i = 0; i < kOperations; ++i) {
    Operation* o = &operations[i];
    draw_operation(o, &t, &shared, &own);
    o->request = MPI_REQUEST_NULL;
    if (o->form == PERSISTENT_FORM) issue(o, t.comm, &o->request);
  }
  uint64_t hash = (uint64_t)rank;
  for (int s = 0; s < kStarts; ++s) {
    MPI_Request requests[kOperations];
    if (one_in(&own, 3)) usleep((useconds_t)below(&own, 300));  // some are late
    for (int i = 0; i < kOperations; ++i) {
      Operation* o = &operations[i];
      for (size_t k = 0; k < buffer_bytes / sizeof(int); ++k) o->outgoing[k] = (int)random_next(&own);
      memset(o->got, 0x55, buffer_bytes);
      if (o->form == PERSISTENT_FORM)
        MPI_Start(&o->request);
      else
        issue(o, t.comm, &o->request);
      requests[i] = o->request;
    }
    if (one_in(&own, 2)) {
      MPI_Waitall(kOperations, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int done = 0; done != MPI_UNDEFINED;) MPI_Waitany(kOperations, requests, &done, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < kOperations; ++i) {
      const Operation* o = &operations[i];
      uint64_t own_hash = 0;
      for (size_t k = 0; k < buffer_bytes / sizeof(int); ++k) own_hash = mixed(own_hash, (unsigned)o->got[k]);
      hash = mixed(hash, own_hash);
      if (verbose) {
        fprintf(stderr, "topology %d, %s, rank %d of %d, start %d: %s %s, %d in, %d out: %016llx\n", topology, t.shape,
                rank, ranks, s, form_names[o->form], names[o->kind], t.in, t.out, (unsigned long long)own_hash);
      }
    }
  }
  for (int i = 0; i < kOperations; ++i) {
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
  MPI_Datatype number;
  MPI_Type_contiguous(1, MPI_INT, &number);
  MPI_Type_create_resized(number, 0, 3 * (MPI_Aint)sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  const MPI_Aint second = sizeof(int);
  const int one = 1;
  MPI_Datatype middle;
  MPI_Type_create_hindexed(1, &one, &second, MPI_INT, &middle);
  MPI_Type_create_resized(middle, 0, 3 * (MPI_Aint)sizeof(int), &shifted);
  MPI_Type_commit(&shifted);
  MPI_Type_free(&middle);
  if (rank == 0) printf("random_neighbours: seed %llu, %d topologies\n", (unsigned long long)seed, topologies);
  for (int i = first; i < first + topologies; ++i) {
    const uint64_t hash = run(i, seed);
    uint64_t all = 0;
    MPI_Reduce(&hash, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("topology %d: %016llx\n", i, (unsigned long long)all);
  }
  MPI_Type_free(&spaced);
  MPI_Type_free(&shifted);
  MPI_Type_free(&number);
  MPI_Finalize();
  return 0;
}
