// SPDX-License-Identifier: BSD-3-Clause
// Who needs what from whom. The matrix is symmetric, so each side finds both directions in its own rows.
#include <stdlib.h>
#include <string.h>

#include "solver.h"

// A value that travels: of row `row`, between this part and `part`.
struct travel {
  int part, row;
};

static int compare_travels(const void* left, const void* right) {
  const struct travel *a = left, *b = right;
  return a->part != b->part ? (a->part > b->part) - (a->part < b->part) : (a->row > b->row) - (a->row < b->row);
}

// Sorts, and leaves each out that is there twice; returns how many stay.
static int order_travels(struct travel* all, int count) {
  int kept = 0;
  qsort(all, (size_t)count, sizeof *all, compare_travels);
  for (int i = 0; i < count; ++i) {
    if (kept == 0 || compare_travels(&all[i], &all[kept - 1]) != 0) all[kept++] = all[i];
  }
  return kept;
}

static int* integers(int count) { return allocate((size_t)count * sizeof(int)); }

// Numbers the part's rows, those without neighbours in other parts first; returns how many points around them lie
// there.
static int number_rows(struct pattern* p, const int* part_of, int n) {
  int around[26], outside = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int row = 0; row < n * n * n; ++row) {
      if (part_of[row] != p->part) continue;
      int others = 0;
      for (int i = neighbours_of_row(n, row, around); i-- > 0;) others += part_of[around[i]] != p->part;
      if ((others > 0) != (pass == 1)) continue;
      outside += others;
      p->row_id[p->rows] = row;
      p->local_row[row] = p->rows++;
    }
    if (pass == 0) p->inner = p->rows;
  }
  return outside;
}

struct pattern make_pattern(const int* part_of, int n, int part) {
  struct pattern p = {.part = part};
  const int all = n * n * n;
  int size = 0, around[26];
  p.local_row = integers(all);
  for (int row = 0; row < all; ++row) size += part_of[row] == part, p.local_row[row] = -1;
  p.row_id = integers(size);
  const int outside = number_rows(&p, part_of, n);
  struct travel* const out = allocate((size_t)outside * sizeof *out);
  struct travel* const in = allocate((size_t)outside * sizeof *in);
  int travels = 0;
  for (int i = p.inner; i < p.rows; ++i) {
    for (int j = neighbours_of_row(n, p.row_id[i], around); j-- > 0;) {
      const int other = part_of[around[j]];
      if (other == part) continue;
      out[travels] = (struct travel){other, p.row_id[i]};
      in[travels++] = (struct travel){other, around[j]};
    }
  }
  const int sent = order_travels(out, travels);
  p.ghosts = order_travels(in, travels);
  p.send_row = integers(sent), p.ghost_id = integers(p.ghosts);
  for (int i = 0; i < sent; ++i) p.neighbours += i == 0 || out[i].part != out[i - 1].part;
  p.rank = integers(p.neighbours), p.tag = calloc((size_t)p.neighbours + 1, sizeof(int));
  p.send_at = integers(p.neighbours + 1), p.recv_at = integers(p.neighbours + 1);
  for (int i = 0, block = 0; i < sent; ++i) {
    if (i == 0 || out[i].part != out[i - 1].part) p.rank[block] = out[i].part, p.send_at[block++] = i;
    p.send_row[i] = p.local_row[out[i].row];
  }
  for (int i = 0, block = 0; i < p.ghosts; ++i) {
    if (i == 0 || in[i].part != in[i - 1].part) p.recv_at[block++] = i;
    p.ghost_id[i] = in[i].row;
    p.local_row[in[i].row] = p.rows + i;
  }
  p.send_at[p.neighbours] = sent, p.recv_at[p.neighbours] = p.ghosts;
  free(in);
  free(out);
  return p;
}

void play_pattern(struct pattern* p) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2 || (ranks & (ranks - 1)) != 0) fail("--play: %d ranks are no power of two from 2 on", ranks);
  // The rank at the other end plays the same part: what it sends by its block i has the length of what is sent here.
  p->ghosts = p->send_at[p->neighbours];
  p->ghost_id = realloc(p->ghost_id, (size_t)(p->ghosts ? p->ghosts : 1) * sizeof(int));
  memcpy(p->recv_at, p->send_at, ((size_t)p->neighbours + 1) * sizeof(int));
  for (int i = 0; i < p->ghosts; ++i) p->ghost_id[i] = p->row_id[p->send_row[i]];
  for (int i = 0; i < p->neighbours; ++i) p->rank[i] = rank ^ (1 + i % (ranks - 1)), p->tag[i] = i;
}

void free_pattern(struct pattern* p) {
  int* const all[] = {p->rank, p->tag, p->send_at, p->recv_at, p->send_row, p->row_id, p->ghost_id, p->local_row};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free(all[i]);
}
