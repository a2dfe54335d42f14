// SPDX-License-Identifier: BSD-3-Clause
// What an exchange of the faces and edges of a grid of cells costs, by each of the ways that MPI has.
//
// The ranks split a box into cubes of cells^3 doubles, each in an array with one layer of its neighbours' cells around.
// An exchange fills that layer, but for its corners; data are described by datatypes, nobody packs. For each size rank
// 0 prints a JSON object, of times the worst over ranks:
//   {"cells": 32, "ranks": 4, "neighbours": 3, "us": {"messages": 9.1, "persistent": 8.2, "neighbour": 11.0,
//    "neighbour-nonblocking": 11.3, "neighbour-persistent": 9.9}, "iteration_us": {"messages": 10.2, ...}}
// messages: MPI_Irecv, MPI_Isend, MPI_Waitall; persistent: MPI_Startall of MPI_Recv_init and MPI_Send_init; neighbour:
// MPI_Neighbor_alltoallw, and its other two forms. Before each exchange the cells are written, after it what came is
// read, as a solver does: data that nobody touches stay in caches. us: from before the start to after the wait;
// iteration_us: with writing and reading, since a line that a neighbour has read in place is dear to write again. The
// ways take turns of some exchanges; each figure is a median. With HALO_BY_HAND in the environment the one way is
// "by-hand", without messages (by_hand.h): for ranks of one node.
#define _GNU_SOURCE

#include <stdbool.h>

#include "arguments.h"
#include "by_hand.h"
#include "loaded.h"

static const char usage[] =
    "usage: halo [--cells LIST] [--milliseconds N]\n"
    "  --cells         edge of a rank's cube (16,32,64)\n"
    "  --milliseconds  how long each size is measured (1500)";

enum { MOST = 18, MOST_TURNS = 400, EXCHANGES = 20 };
enum way { MESSAGES, PERSISTENT, NEIGHBOUR, NONBLOCKING, NEIGHBOUR_PERSISTENT, BY_HAND, WAYS };
static const char* const names[] = {
    "messages", "persistent", "neighbour", "neighbour-nonblocking", "neighbour-persistent", "by-hand"};

struct grid {
  MPI_Comm comm, graph;
  int place[DIMENSIONS];
  int neighbours, rank[MOST], toward[MOST][DIMENSIONS];
  int edge;  // of the array, with both layers
  double* cells;
  MPI_Datatype out[MOST], in[MOST];
  int ones[MOST];
  MPI_Aint zeros[MOST];
  MPI_Request messages[2 * MOST], collective;
  struct by_hand* by_hand;  // NULL: none of that
};

// Is this way measured?
static bool has(const struct grid* g, int way) {
  if (g->by_hand != NULL || way == BY_HAND) return g->by_hand != NULL && way == BY_HAND;
  return way != NEIGHBOUR_PERSISTENT || g->collective != MPI_REQUEST_NULL;
}

static struct box box(const struct grid* g, const int* toward, bool outgoing) {
  struct box made;
  for (int d = 0; d < DIMENSIONS; ++d) {
    made.size[d] = toward[d] == 0 ? g->edge - 2 : 1;
    made.start[d] = toward[d] == 0 ? 1 : toward[d] < 0 ? (outgoing ? 1 : 0) : g->edge - (outgoing ? 2 : 1);
  }
  return made;
}

static MPI_Datatype part(const struct grid* g, const int* toward, bool outgoing) {
  const int whole[DIMENSIONS] = {g->edge, g->edge, g->edge};
  const struct box of = box(g, toward, outgoing);
  int size[DIMENSIONS], start[DIMENSIONS];
  for (int d = 0; d < DIMENSIONS; ++d) {
    size[d] = (int)of.size[d];
    start[d] = (int)of.start[d];
  }
  MPI_Datatype made;
  MPI_Type_create_subarray(DIMENSIONS, whole, size, start, MPI_ORDER_C, MPI_DOUBLE, &made);
  MPI_Type_commit(&made);
  return made;
}

static void find_neighbours(struct grid* g) {
  int ranks = 0, sizes[DIMENSIONS] = {0}, periodic[DIMENSIONS] = {0};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, DIMENSIONS, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, sizes, periodic, 0, &g->comm);
  int own = 0;
  MPI_Comm_rank(g->comm, &own);
  MPI_Cart_coords(g->comm, own, DIMENSIONS, g->place);
  for (int code = 0; code < 27; ++code) {
    const int toward[DIMENSIONS] = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
    const int steps = abs(toward[0]) + abs(toward[1]) + abs(toward[2]);
    if (steps != 1 && steps != 2) continue;
    int at[DIMENSIONS];
    bool inside = true;
    for (int d = 0; d < DIMENSIONS; ++d) {
      at[d] = g->place[d] + toward[d];
      inside = inside && at[d] >= 0 && at[d] < sizes[d];
    }
    if (!inside) continue;
    MPI_Cart_rank(g->comm, at, &g->rank[g->neighbours]);
    memcpy(g->toward[g->neighbours++], toward, sizeof toward);
  }
  const int weights[MOST] = {0};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, g->neighbours, g->rank, weights, g->neighbours, g->rank, weights,
                                 MPI_INFO_NULL, 0, &g->graph);
}

// The messages that one rank gets from another are told apart by the direction in which they travel.
static int tag(const int* toward, int sign) {
  return (sign * toward[0] + 1) * 9 + (sign * toward[1] + 1) * 3 + sign * toward[2] + 1;
}

static void prepare(struct grid* g, int cells) {
  g->edge = cells + 2;
  g->cells = allocate((size_t)g->edge * (size_t)g->edge * (size_t)g->edge * sizeof(double));
  for (int i = 0; i < g->neighbours; ++i) {
    g->out[i] = part(g, g->toward[i], true);
    g->in[i] = part(g, g->toward[i], false);
    g->ones[i] = 1;
    MPI_Recv_init(g->cells, 1, g->in[i], g->rank[i], tag(g->toward[i], -1), g->comm, &g->messages[i]);
    MPI_Send_init(g->cells, 1, g->out[i], g->rank[i], tag(g->toward[i], 1), g->comm, &g->messages[g->neighbours + i]);
  }
  // Open MPI 5 checks as many types as there are ranks.
  for (int i = g->neighbours; i < MOST; ++i) g->out[i] = g->in[i] = MPI_DOUBLE;
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  MPI_Neighbor_alltoallw_init(g->cells, g->ones, g->zeros, g->out, g->cells, g->ones, g->zeros, g->in, g->graph,
                              MPI_INFO_NULL, &g->collective);
#endif
  if (getenv("HALO_BY_HAND") != NULL) {
    struct box out[MOST], in[MOST];
    for (int i = 0; i < g->neighbours; ++i) {
      out[i] = box(g, g->toward[i], true);
      in[i] = box(g, g->toward[i], false);
    }
    g->by_hand = by_hand_create(g->graph, g->neighbours, g->edge, out, in);
  }
}

static void discard(struct grid* g) {
  for (int i = 0; i < 2 * g->neighbours; ++i) MPI_Request_free(&g->messages[i]);
  if (g->collective != MPI_REQUEST_NULL) MPI_Request_free(&g->collective);
  for (int i = 0; i < g->neighbours; ++i) {
    MPI_Type_free(&g->out[i]);
    MPI_Type_free(&g->in[i]);
  }
  free(g->cells);
  if (g->by_hand != NULL) by_hand_free(g->by_hand);
}

static void exchange(struct grid* g, enum way way) {
  MPI_Request requests[2 * MOST];
  const int n = g->neighbours;
  switch (way) {
    case MESSAGES:
      for (int i = 0; i < n; ++i) {
        MPI_Irecv(g->cells, 1, g->in[i], g->rank[i], tag(g->toward[i], -1), g->comm, &requests[i]);
      }
      for (int i = 0; i < n; ++i) {
        MPI_Isend(g->cells, 1, g->out[i], g->rank[i], tag(g->toward[i], 1), g->comm, &requests[n + i]);
      }
      MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
      break;
    case PERSISTENT:
      MPI_Startall(2 * n, g->messages);
      MPI_Waitall(2 * n, g->messages, MPI_STATUSES_IGNORE);
      break;
    case NEIGHBOUR:
      MPI_Neighbor_alltoallw(g->cells, g->ones, g->zeros, g->out, g->cells, g->ones, g->zeros, g->in, g->graph);
      break;
    case NONBLOCKING:
      MPI_Ineighbor_alltoallw(g->cells, g->ones, g->zeros, g->out, g->cells, g->ones, g->zeros, g->in, g->graph,
                              &requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      break;
    case NEIGHBOUR_PERSISTENT:
      MPI_Start(&g->collective);
      MPI_Wait(&g->collective, MPI_STATUS_IGNORE);
      break;
    default:
      by_hand_exchange(g->by_hand, g->cells);
  }
}

// What the cell at these indices of the array holds, as a cell of the whole box.
static double value(const struct grid* g, int turn, const int* at) {
  double all = turn;
  for (int d = 0; d < DIMENSIONS; ++d) all = all * 1009 + g->place[d] * (g->edge - 2) + at[d];
  return all;
}

static bool on_halo(const struct grid* g, int i) { return i == 0 || i == g->edge - 1; }

// Fills the own cells, or checks that the layer around holds the neighbours'; elsewhere it must be as it was.
static bool sweep(struct grid* g, int turn, bool check) {
  double* cell = g->cells;
  int at[DIMENSIONS];
  for (at[0] = 0; at[0] < g->edge; ++at[0]) {
    for (at[1] = 0; at[1] < g->edge; ++at[1]) {
      for (at[2] = 0; at[2] < g->edge; ++at[2], ++cell) {
        const int outside = on_halo(g, at[0]) + on_halo(g, at[1]) + on_halo(g, at[2]);
        if (!check) {
          *cell = outside == 0 ? value(g, turn, at) : -1;
        } else if (outside == 1 || outside == 2) {
          bool known = false;
          for (int i = 0; i < g->neighbours; ++i) {
            bool there = true;
            for (int d = 0; d < DIMENSIONS; ++d) {
              there = there && (at[d] == 0 ? -1 : at[d] == g->edge - 1 ? 1 : 0) == g->toward[i][d];
            }
            known = known || there;
          }
          if (*cell != (known ? value(g, turn, at) : -1)) return false;
        }
      }
    }
  }
  return true;
}

// Writes what is sent, or reads what was received; both as a solver's sweep over its cells does, one part after the
// other.
static double touch(struct grid* g, bool write) {
  double sum = 0;
  for (int i = 0; i < g->neighbours; ++i) {
    int first[DIMENSIONS], last[DIMENSIONS], at[DIMENSIONS];
    for (int d = 0; d < DIMENSIONS; ++d) {
      const int toward = g->toward[i][d];
      first[d] = toward == 0 ? 1 : toward < 0 ? (write ? 1 : 0) : g->edge - (write ? 2 : 1);
      last[d] = toward == 0 ? g->edge - 2 : first[d];
    }
    for (at[0] = first[0]; at[0] <= last[0]; ++at[0]) {
      for (at[1] = first[1]; at[1] <= last[1]; ++at[1]) {
        double* row = g->cells + ((size_t)at[0] * (size_t)g->edge + (size_t)at[1]) * (size_t)g->edge;
        for (at[2] = first[2]; at[2] <= last[2]; ++at[2]) {
          if (write) row[at[2]] += 1;
          sum += row[at[2]];
        }
      }
    }
  }
  return sum;
}

// The medians of so many turns, of each the worst over ranks.
static void print_ways(const struct grid* g, const char* name, double turns[WAYS][MOST_TURNS], int count) {
  int own = 0;
  MPI_Comm_rank(g->comm, &own);
  if (own == 0) printf("\"%s\": {", name);
  const char* before = "";
  for (int way = 0; way < WAYS; ++way) {
    if (!has(g, way)) continue;
    double worst[MOST_TURNS];
    MPI_Reduce(turns[way], worst, count, MPI_DOUBLE, MPI_MAX, 0, g->comm);
    if (own != 0) continue;
    sort_samples(worst, count);
    printf("%s\"%s\": %.3f", before, names[way], quantile(worst, count, 0.5));
    before = ", ";
  }
  if (own == 0) printf("}");
}

static void measure(struct grid* g, int cells, double milliseconds) {
  static double turns[WAYS][MOST_TURNS], iterations[WAYS][MOST_TURNS];
  prepare(g, cells);
  for (int way = 0; way < WAYS; ++way) {
    if (!has(g, way)) continue;
    for (int turn = 0; turn < 3; ++turn) {
      sweep(g, turn, false);
      exchange(g, (enum way)way);
      if (!sweep(g, turn, true)) end_job("halo: %s brings wrong cells", names[way]);
    }
  }
  int count = 0;
  volatile double kept = 0;
  const double end = now_ns() + milliseconds * 1e6;
  for (int more = 1; more && count < MOST_TURNS; ++count) {
    for (int way = 0; way < WAYS; ++way) {
      if (!has(g, way)) continue;
      exchange(g, (enum way)way);
      MPI_Barrier(g->comm);
      double spent = 0;
      const double first = now_ns();
      for (int i = 0; i < EXCHANGES; ++i) {
        kept = kept + touch(g, true);
        const double begin = now_ns();
        exchange(g, (enum way)way);
        spent += now_ns() - begin;
        kept = kept + touch(g, false);
      }
      turns[way][count] = spent / EXCHANGES / 1e3;
      iterations[way][count] = (now_ns() - first) / EXCHANGES / 1e3;
    }
    more = now_ns() < end;
    MPI_Bcast(&more, 1, MPI_INT, 0, g->comm);
  }
  int own = 0, ranks = 0;
  MPI_Comm_rank(g->comm, &own);
  MPI_Comm_size(g->comm, &ranks);
  if (own == 0) printf("{\"cells\": %d, \"ranks\": %d, \"neighbours\": %d, ", cells, ranks, g->neighbours);
  print_ways(g, "us", turns, count);
  if (own == 0) printf(", ");
  print_ways(g, "iteration_us", iterations, count);
  if (own == 0) printf("}\n");
  fflush(stdout);
  discard(g);
}

int main(int argc, char** argv) {
  static char all_cells[] = "16,32,64";
  char* cells = all_cells;
  long milliseconds = 1500;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--cells", &cells, NULL, 0}, {"--milliseconds", NULL, &milliseconds, 1}};
  parse_options(argc, argv, options, 2, usage);
  long sizes[MAX_LIST];
  const int count = parse_numbers("--cells", cells, 1, sizes);
  print_loaded();
  struct grid grid = {.collective = MPI_REQUEST_NULL};
  find_neighbours(&grid);
  for (int i = 0; i < count; ++i) measure(&grid, (int)sizes[i], (double)milliseconds);
  MPI_Comm_free(&grid.graph);
  MPI_Comm_free(&grid.comm);
  MPI_Finalize();
  return 0;
}
