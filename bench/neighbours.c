// SPDX-License-Identifier: BSD-3-Clause
// What starting an exchange with neighbours costs that comes again and again, without what comes after the start.
//
// Two ranks, each the other's neighbour as many times as asked. For each way rank 0 prints a JSON object; every figure
// is the worse of both ranks':
//   {"way": "halo", "neighbours": 6, "bytes": 8, "starts": 20000, "call_ns": 150, "call_p90_ns": 210, "clock_ns": 22,
//    "copy_ns": 4, "allocations": 0}
// ways: halo, ura_halo_begin of urakata.h (not there without Urakata); neighbour-persistent, MPI_Start of
// MPI_Neighbor_alltoallw_init; persistent, MPI_Startall of MPI_Recv_init and MPI_Send_init. call_ns: median duration of
// the starting call, less clock_ns, the cost of reading the clock, and less copy_ns, that of copying the bytes for all
// neighbours within this core's cache. allocations: how many Urakata made during the starts, null without it.
#define _GNU_SOURCE

#include "../include/urakata.h"
#include "../src/shim/user/measuring.h"
#include "arguments.h"
#include "loaded.h"
#include "timing.h"

static const char usage[] =
    "usage: neighbours [--neighbours N] [--bytes N] [--starts N]\n"
    "  --neighbours  how many, at most 64 (6)\n"
    "  --bytes       to and from each (8)\n"
    "  --starts      how often each way is started (20000)";

enum { MOST = 64 };
enum way { HALO, NEIGHBOUR_PERSISTENT, PERSISTENT, WAYS };
static const char* const names[] = {"halo", "neighbour-persistent", "persistent"};

struct exchange {
  int neighbours, rank, other;
  size_t bytes;
  char *out, *in;
  ura_halo* halo;
  MPI_Request collective, messages[2 * MOST];
};

static void make(struct exchange* e) {
  int ranks[MOST], counts[MOST], *const places = allocate((size_t)e->neighbours * sizeof(int)), weights[MOST] = {0};
  int one[MOST];
  MPI_Aint displacements[MOST];
  MPI_Datatype types[MOST];
  MPI_Comm graph;
  e->out = allocate(e->bytes * (size_t)e->neighbours);
  e->in = allocate(e->bytes * (size_t)e->neighbours);
  memset(e->out, e->rank + 1, e->bytes * (size_t)e->neighbours);
  for (int i = 0; i < e->neighbours; ++i) {
    ranks[i] = e->other;
    counts[i] = 1;
    places[i] = i;
    one[i] = (int)e->bytes;
    displacements[i] = (MPI_Aint)(e->bytes * (size_t)i);
    types[i] = MPI_BYTE;
    MPI_Recv_init(e->in + displacements[i], one[i], MPI_BYTE, e->other, i, MPI_COMM_WORLD, &e->messages[i]);
    MPI_Send_init(e->out + displacements[i], one[i], MPI_BYTE, e->other, i, MPI_COMM_WORLD,
                  &e->messages[e->neighbours + i]);
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, e->neighbours, ranks, weights, e->neighbours, ranks, weights,
                                 MPI_INFO_NULL, 0, &graph);
  e->collective = MPI_REQUEST_NULL;
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  MPI_Neighbor_alltoallw_init(e->out, one, displacements, types, e->in, one, displacements, types, graph, MPI_INFO_NULL,
                              &e->collective);
#endif
  if (ura_available()) {
    const ura_halo_side side = {e->neighbours, ranks, counts, places, e->neighbours};
    ura_halo_create(MPI_COMM_WORLD, (MPI_Aint)e->bytes, &side, &side, &e->halo);
  }
  free(places);
}

static int has(const struct exchange* e, enum way way) {
  return way == HALO ? e->halo != NULL : way == PERSISTENT || e->collective != MPI_REQUEST_NULL;
}

static void start(struct exchange* e, enum way way) {
  if (way == HALO)
    ura_halo_begin(e->halo, e->out, e->in);
  else if (way == NEIGHBOUR_PERSISTENT)
    MPI_Start(&e->collective);
  else
    MPI_Startall(2 * e->neighbours, e->messages);
}

static void end(struct exchange* e, enum way way) {
  if (way == HALO)
    ura_halo_end(e->halo);
  else if (way == NEIGHBOUR_PERSISTENT)
    MPI_Wait(&e->collective, MPI_STATUS_IGNORE);
  else
    MPI_Waitall(2 * e->neighbours, e->messages, MPI_STATUSES_IGNORE);
}

static double copy_ns(const struct exchange* e) {
  enum { TURNS = 200 };
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    const double before = now_ns();
    for (int turn = 0; turn < TURNS; ++turn) {
      for (int i = 0; i < e->neighbours; ++i) {
        memcpy(e->in + e->bytes * (size_t)i, e->out + e->bytes * (size_t)i, e->bytes);
        __asm__ volatile("" ::: "memory");
      }
    }
    const double turn = (now_ns() - before) / TURNS;
    if (turn < best) best = turn;
  }
  return best;
}

static double worst(double own) {
  double all = 0;
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return all;
}

static void measure(struct exchange* e, enum way way, int starts) {
  enum { WARM_UP = 1000 };
  double* const calls = allocate((size_t)starts * sizeof(double));
  unsigned long long before = 0;
  for (int i = -WARM_UP; i < starts; ++i) {
    if (i == 0 && ura_available()) before = urakata_internal_allocations();
    if (i < 0) memset(e->in, 0, e->bytes * (size_t)e->neighbours);
    const double begin = now_ns();
    start(e, way);
    const double spent = now_ns() - begin;
    if (i >= 0) calls[i] = spent;
    end(e, way);
    for (size_t k = 0; i < 0 && k < e->bytes * (size_t)e->neighbours; ++k) {
      if (e->in[k] != e->other + 1) end_job("neighbours: %s brings wrong bytes", names[way]);
    }
  }
  const double made = ura_available() ? (double)(urakata_internal_allocations() - before) : -1;
  sort_samples(calls, starts);
  const double clock = clock_cost_ns(), copy = copy_ns(e);
  const double call = worst(quantile(calls, starts, 0.5) - clock - copy);
  const double slow = worst(quantile(calls, starts, 0.9) - clock - copy);
  const double clock_worst = worst(clock), copy_worst = worst(copy), made_worst = worst(made);
  if (e->rank == 0) {
    printf(
        "{\"way\": \"%s\", \"neighbours\": %d, \"bytes\": %zu, \"starts\": %d, \"call_ns\": %.1f, \"call_p90_ns\": "
        "%.1f, "
        "\"clock_ns\": %.1f, \"copy_ns\": %.1f, \"allocations\": ",
        names[way], e->neighbours, e->bytes, starts, call, slow, clock_worst, copy_worst);
    if (made_worst < 0)
      printf("null}\n");
    else
      printf("%.0f}\n", made_worst);
    fflush(stdout);
  }
  free(calls);
}

int main(int argc, char** argv) {
  long neighbours = 6, bytes = 8, starts = 20000;
  int ranks = 0;
  struct exchange e = {.halo = NULL};
  MPI_Init(&argc, &argv);
  const struct option options[] = {
      {"--neighbours", NULL, &neighbours, 1}, {"--bytes", NULL, &bytes, 1}, {"--starts", NULL, &starts, 1}};
  parse_options(argc, argv, options, 3, usage);
  MPI_Comm_rank(MPI_COMM_WORLD, &e.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2 || neighbours > MOST) fail("neighbours: two ranks, and at most %d neighbours", MOST);
  e.other = 1 - e.rank;
  e.neighbours = (int)neighbours;
  e.bytes = (size_t)bytes;
  print_loaded();
  make(&e);
  for (int way = 0; way < WAYS; ++way) {
    if (has(&e, (enum way)way)) measure(&e, (enum way)way, (int)starts);
  }
  for (int i = 0; i < 2 * e.neighbours; ++i) MPI_Request_free(&e.messages[i]);
  if (e.collective != MPI_REQUEST_NULL) MPI_Request_free(&e.collective);
  if (e.halo) ura_halo_free(&e.halo);
  MPI_Finalize();
  return 0;
}
