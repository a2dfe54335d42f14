// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE

#include "by_hand.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

enum { LINE = 64, SPINS = 2000 };

// The memory at one rank that one neighbour writes.
struct mailbox {
  _Alignas(LINE) atomic_ulong flag;  // sequence flag: number of the last exchange whose payload is here
  _Alignas(LINE) double buffers[];   // double buffer: two payloads
};

struct by_hand {
  MPI_Win window;
  int neighbours;
  ptrdiff_t edge;
  struct box *out, *in;
  struct mailbox **here, **there;  // by neighbour: the mailbox that it writes, and the one that this rank writes
  unsigned long exchanges;
};

static size_t cells_of(const struct box* of) { return (size_t)(of->size[0] * of->size[1] * of->size[2]); }

static size_t bytes_of(const struct box* of) {
  const size_t bytes = sizeof(struct mailbox) + 2 * cells_of(of) * sizeof(double);
  return (bytes + LINE - 1) / LINE * LINE;
}

struct by_hand* by_hand_create(MPI_Comm graph, int neighbours, ptrdiff_t edge, const struct box* out,
                               const struct box* in) {
  struct by_hand* const made = calloc(1, sizeof *made);
  const size_t count = (size_t)neighbours + 1;  // a rank may have none
  made->neighbours = neighbours;
  made->edge = edge;
  made->out = calloc(count, sizeof *made->out);
  made->in = calloc(count, sizeof *made->in);
  made->here = calloc(count, sizeof(struct mailbox*));
  made->there = calloc(count, sizeof(struct mailbox*));
  int* const ranks = calloc(4 * count, sizeof *ranks);  // of sources, their weights, of destinations, theirs
  MPI_Aint* const offsets = calloc(2 * count, sizeof *offsets);
  memcpy(made->out, out, (size_t)neighbours * sizeof *out);
  memcpy(made->in, in, (size_t)neighbours * sizeof *in);

  MPI_Aint bytes = 0;
  for (int i = 0; i < neighbours; ++i) {
    offsets[i] = bytes;
    bytes += (MPI_Aint)bytes_of(&in[i]);
  }
  char* own = NULL;
  MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, graph, &own, &made->window);
  memset(own, 0, (size_t)bytes);
  MPI_Neighbor_alltoall(offsets, 1, MPI_AINT, offsets + count, 1, MPI_AINT, graph);
  MPI_Dist_graph_neighbors(graph, neighbours, ranks, ranks + count, neighbours, ranks + 2 * count, ranks + 3 * count);
  for (int i = 0; i < neighbours; ++i) {
    MPI_Aint size;
    int unit;
    char* other;
    MPI_Win_shared_query(made->window, ranks[i], &size, &unit, &other);
    made->here[i] = (struct mailbox*)(own + offsets[i]);
    made->there[i] = (struct mailbox*)(other + offsets[count + (size_t)i]);
  }
  free(ranks);
  free(offsets);
  MPI_Barrier(graph);
  return made;
}

// Between the box in the array and `line`, where its cells lie one after another.
static void copy(const struct by_hand* e, double* cells, const struct box* of, double* line, int out) {
  const size_t row = (size_t)of->size[2];
  for (ptrdiff_t x = of->start[0]; x < of->start[0] + of->size[0]; ++x) {
    for (ptrdiff_t y = of->start[1]; y < of->start[1] + of->size[1]; ++y, line += row) {
      double* const there = cells + (x * e->edge + y) * e->edge + of->start[2];
      if (row == 1)
        out ? (*line = *there) : (*there = *line);
      else
        out ? memcpy(line, there, row * sizeof(double)) : memcpy(there, line, row * sizeof(double));
    }
  }
}

// Two buffers are enough: a neighbour whose payload of the last exchange has come has read all earlier payloads.
void by_hand_exchange(struct by_hand* e, double* cells) {
  const unsigned long number = ++e->exchanges;
  for (int i = 0; i < e->neighbours; ++i) {
    struct mailbox* const to = e->there[i];
    copy(e, cells, &e->out[i], to->buffers + number % 2 * cells_of(&e->out[i]), 1);
    atomic_store_explicit(&to->flag, number, memory_order_release);
  }
  for (int i = 0; i < e->neighbours; ++i) {
    struct mailbox* const from = e->here[i];
    for (int spins = 0; atomic_load_explicit(&from->flag, memory_order_acquire) < number; ++spins) {
      if (spins >= SPINS) sched_yield();
    }
    copy(e, cells, &e->in[i], from->buffers + number % 2 * cells_of(&e->in[i]), 0);
  }
}

void by_hand_free(struct by_hand* e) {
  MPI_Win_free(&e->window);
  free(e->out);
  free(e->in);
  free(e->here);
  free(e->there);
  free(e);
}
