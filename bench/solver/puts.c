// SPDX-License-Identifier: BSD-3-Clause
// One-sided with synchronisation: MPI_Put straight into the neighbours' ghosts. There is one buffer, so nobody may put
// before its owner has said that the last values are read, and the owner must learn that the new ones are there. Four
// ways to say both: fences, MPI_Win_post and its sisters, a barrier after a flush, and counters at the neighbours.
#include <stdlib.h>
#include <string.h>

#include "solver.h"

// Of the window: rows, ghosts, then two counters for each neighbour, 64 bytes each, all on lines of their own.
enum { LINE = 8 };  // doubles

struct window {
  MPI_Aint* place;     // of each neighbour's ghosts for us, in its window, in doubles
  MPI_Aint* counters;  // of its counters for us
  MPI_Aint own;        // where the own counters begin
  MPI_Group group;     // of the neighbours
  int64_t number;      // of this exchange, which counters are set to
};

static MPI_Aint whole_lines(MPI_Aint doubles) { return (doubles + LINE - 1) / LINE * LINE; }

static const char* prepare_window(struct exchange* e) {
  const struct pattern* const p = e->pattern;
  const int n = p->neighbours;
  struct window* const w = calloc(1, sizeof *w);
  MPI_Aint* const mine = allocate((size_t)n * 2 * sizeof *mine);
  MPI_Aint* const theirs = allocate((size_t)n * 2 * sizeof *theirs);
  w->place = allocate((size_t)n * sizeof *w->place);
  w->counters = allocate((size_t)n * sizeof *w->counters);
  w->own = whole_lines((MPI_Aint)p->rows + p->ghosts);
  const MPI_Aint length = w->own + (MPI_Aint)n * 2 * LINE;
  MPI_Win_allocate(length * (MPI_Aint)sizeof(double), sizeof(double), MPI_INFO_NULL, e->comm, &e->vector, &e->window);
  memset(e->vector, 0, (size_t)length * sizeof(double));
  for (int i = 0; i < n; ++i) {
    mine[2 * i] = p->rows + p->recv_at[i], mine[2 * i + 1] = w->own + 2 * LINE * i;
    MPI_Irecv(theirs + 2 * i, 2, MPI_AINT, p->rank[i], p->tag[i], e->comm, &e->requests[i]);
    MPI_Isend(mine + 2 * i, 2, MPI_AINT, p->rank[i], p->tag[i], e->comm, &e->requests[n + i]);
  }
  MPI_Waitall(2 * n, e->requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; ++i) w->place[i] = theirs[2 * i], w->counters[i] = theirs[2 * i + 1];
  free(theirs);
  free(mine);
  e->own = w;
  MPI_Barrier(e->comm);  // nobody's counter may be written before it is set to 0
  return NULL;
}

void discard_window(struct exchange* e) {
  struct window* const w = e->own;
  MPI_Win_free(&e->window);
  free(w->place);
  free(w->counters);
  free(w);
}

static void put(struct exchange* e, int i) {
  const struct pattern* const p = e->pattern;
  const struct window* const w = e->own;
  pack(e, i);
  MPI_Put(e->packed + p->send_at[i], send_count(p, i), MPI_DOUBLE, p->rank[i], w->place[i], send_count(p, i),
          MPI_DOUBLE, e->window);
}

static void put_all(struct exchange* e) {
  for (int i = 0; i < e->pattern->neighbours; ++i) put(e, i);
}

// --- put-fence ---

const char* prepare_fence(struct exchange* e) { return prepare_window(e); }

void start_fence(struct exchange* e) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE, e->window);
  put_all(e);
}

void finish_fence(struct exchange* e) { MPI_Win_fence(MPI_MODE_NOSUCCEED, e->window); }

// --- put-pscw ---

const char* prepare_pscw(struct exchange* e) {
  const struct pattern* const p = e->pattern;
  prepare_window(e);
  struct window* const w = e->own;
  int* const each = allocate((size_t)p->neighbours * sizeof *each);
  int count = 0;
  for (int i = 0; i < p->neighbours; ++i) {  // a group names each rank once
    bool known = false;
    for (int j = 0; j < count; ++j) known = known || each[j] == p->rank[i];
    if (!known) each[count++] = p->rank[i];
  }
  MPI_Group all;
  MPI_Comm_group(e->comm, &all);
  MPI_Group_incl(all, count, each, &w->group);
  MPI_Group_free(&all);
  free(each);
  return NULL;
}

void start_pscw(struct exchange* e) {
  const struct window* const w = e->own;
  MPI_Win_post(w->group, 0, e->window);
  MPI_Win_start(w->group, 0, e->window);
  put_all(e);
}

void finish_pscw(struct exchange* e) {
  MPI_Win_complete(e->window);
  MPI_Win_wait(e->window);
}

void discard_pscw(struct exchange* e) {
  struct window* const w = e->own;
  MPI_Group_free(&w->group);
  discard_window(e);
}

// --- put-flush ---

const char* prepare_flush(struct exchange* e) {
  prepare_window(e);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, e->window);
  return NULL;
}

void start_flush(struct exchange* e) {
  MPI_Win_sync(e->window);
  MPI_Barrier(e->comm);
  put_all(e);
}

void finish_flush(struct exchange* e) {
  MPI_Win_flush_all(e->window);
  MPI_Barrier(e->comm);
  MPI_Win_sync(e->window);
}

void discard_locked(struct exchange* e) {
  MPI_Win_unlock_all(e->window);
  discard_window(e);
}

// --- put-notify: of each neighbour's two counters here the first says for which exchange its ghosts are free, the
// second which exchange's values it has put ---

enum counter { FREE, THERE };

static void tell(struct exchange* e, int i, enum counter which) {
  const struct window* const w = e->own;
  MPI_Accumulate(&w->number, 1, MPI_INT64_T, e->pattern->rank[i], w->counters[i] + which * LINE, 1, MPI_INT64_T,
                 MPI_REPLACE, e->window);
}

static void await(struct exchange* e, int i, enum counter which) {
  const struct window* const w = e->own;
  const volatile int64_t* const counter = (const volatile int64_t*)(e->vector + w->own + (2 * i + which) * LINE);
  for (int unused = 0; *counter < e->number; MPI_Win_sync(e->window)) {
    // The MPI library may only move in calls.
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, e->comm, &unused, MPI_STATUS_IGNORE);
  }
}

const char* prepare_notify(struct exchange* e) {
  int* model = NULL;
  int there = 0;
  prepare_window(e);
  MPI_Win_get_attr(e->window, MPI_WIN_MODEL, &model, &there);
  if (!there || *model != MPI_WIN_UNIFIED) {
    discard_window(e);
    return "the window's memory model is not the unified one, so nobody can wait for a counter in it";
  }
  MPI_Win_lock_all(MPI_MODE_NOCHECK, e->window);
  return NULL;
}

void start_notify(struct exchange* e) {
  const int n = e->pattern->neighbours;
  ((struct window*)e->own)->number = e->number;
  MPI_Win_sync(e->window);
  for (int i = 0; i < n; ++i) tell(e, i, FREE);
  MPI_Win_flush_all(e->window);
  for (int i = 0; i < n; ++i) {
    await(e, i, FREE);
    put(e, i);
  }
  MPI_Win_flush_all(e->window);
  for (int i = 0; i < n; ++i) tell(e, i, THERE);
}

void finish_notify(struct exchange* e) {
  MPI_Win_flush_all(e->window);
  for (int i = 0; i < e->pattern->neighbours; ++i) await(e, i, THERE);
  MPI_Win_sync(e->window);
}
