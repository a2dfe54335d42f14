// SPDX-License-Identifier: BSD-3-Clause
// The table of ways, and those that are messages or a collective of neighbours.
#include <stdlib.h>
#include <string.h>

#include "solver.h"

static void make_vector(struct exchange* e) {
  const size_t length = (size_t)e->pattern->rows + (size_t)e->pattern->ghosts;
  e->vector = allocate(length * sizeof(double));
  memset(e->vector, 0, length * sizeof(double));
}

static void discard_vector(struct exchange* e) { free(e->vector); }

// --- messages: MPI_Irecv, MPI_Isend, MPI_Waitall ---

static const char* prepare_messages(struct exchange* e) {
  make_vector(e);
  return NULL;
}

static void start_messages(struct exchange* e) {
  const struct pattern* const p = e->pattern;
  const int n = p->neighbours;
  for (int i = 0; i < n; ++i) {
    MPI_Irecv(ghosts(e, i), recv_count(p, i), MPI_DOUBLE, p->rank[i], p->tag[i], e->comm, &e->requests[i]);
  }
  for (int i = 0; i < n; ++i) {
    pack(e, i);
    MPI_Isend(e->packed + p->send_at[i], send_count(p, i), MPI_DOUBLE, p->rank[i], p->tag[i], e->comm,
              &e->requests[n + i]);
  }
}

static void wait_messages(struct exchange* e) {
  MPI_Waitall(2 * e->pattern->neighbours, e->requests, MPI_STATUSES_IGNORE);
}

// --- persistent: MPI_Startall of MPI_Recv_init and MPI_Send_init ---

static const char* prepare_persistent(struct exchange* e) {
  const struct pattern* const p = e->pattern;
  make_vector(e);
  for (int i = 0; i < p->neighbours; ++i) {
    MPI_Recv_init(ghosts(e, i), recv_count(p, i), MPI_DOUBLE, p->rank[i], p->tag[i], e->comm, &e->requests[i]);
    MPI_Send_init(e->packed + p->send_at[i], send_count(p, i), MPI_DOUBLE, p->rank[i], p->tag[i], e->comm,
                  &e->requests[p->neighbours + i]);
  }
  return NULL;
}

static void start_persistent(struct exchange* e) {
  MPI_Startall(e->pattern->neighbours, e->requests);
  pack_all(e);
  MPI_Startall(e->pattern->neighbours, e->requests + e->pattern->neighbours);
}

static void discard_persistent(struct exchange* e) {
  for (int i = 0; i < 2 * e->pattern->neighbours; ++i) MPI_Request_free(&e->requests[i]);
  discard_vector(e);
}

// --- neighbour: MPI_Start of MPI_Neighbor_alltoallv_init; under Urakata in a space a neighbourhood channel ---

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
static const char* prepare_neighbour(struct exchange* e) {
  const struct pattern* const p = e->pattern;
  const int n = p->neighbours;
  // The MPI library may read them until the request is freed.
  int* const counts = calloc(2 * (size_t)n + 1, sizeof *counts);
  MPI_Comm graph;
  make_vector(e);
  for (int i = 0; i < n; ++i) counts[i] = send_count(p, i), counts[n + i] = recv_count(p, i);
  MPI_Dist_graph_create_adjacent(e->comm, n, p->rank, counts + n, n, p->rank, counts, MPI_INFO_NULL, 0, &graph);
  MPI_Neighbor_alltoallv_init(e->packed, counts, p->send_at, MPI_DOUBLE, e->vector + p->rows, counts + n, p->recv_at,
                              MPI_DOUBLE, graph, MPI_INFO_NULL, &e->requests[0]);
  MPI_Comm_free(&e->comm);
  e->comm = graph;
  e->own = counts;
  return NULL;
}

static void start_neighbour(struct exchange* e) {
  pack_all(e);
  MPI_Start(&e->requests[0]);
}

static void wait_neighbour(struct exchange* e) { MPI_Wait(&e->requests[0], MPI_STATUS_IGNORE); }

static void discard_neighbour(struct exchange* e) {
  MPI_Request_free(&e->requests[0]);
  free(e->own);
  discard_vector(e);
}
#else
static const char* prepare_neighbour(struct exchange* e) {
  (void)e;
  return "this MPI has no MPI_Neighbor_alltoallv_init";
}
#define start_neighbour NULL
#define wait_neighbour NULL
#define discard_neighbour NULL
#endif

// A further way is a line here, and a function for each field.
const struct way ways[] = {
    {"messages", prepare_messages, start_messages, wait_messages, discard_vector},
    {"persistent", prepare_persistent, start_persistent, wait_messages, discard_persistent},
    {"neighbour", prepare_neighbour, start_neighbour, wait_neighbour, discard_neighbour},
    {"put-fence", prepare_fence, start_fence, finish_fence, discard_window},
    {"put-pscw", prepare_pscw, start_pscw, finish_pscw, discard_pscw},
    {"put-flush", prepare_flush, start_flush, finish_flush, discard_locked},
    {"put-notify", prepare_notify, start_notify, finish_notify, discard_locked},
    {"sockets", prepare_sockets, start_sockets, finish_sockets, discard_sockets},
};
const int way_count = sizeof ways / sizeof *ways;
