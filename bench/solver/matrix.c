// SPDX-License-Identifier: BSD-3-Clause
// A part's rows of the matrix, and their product with a vector.
#include <stdlib.h>

#include "solver.h"

const char* const step_names[STEPS] = {"start", "inner", "wait", "boundary", "reduce", "vectors"};

struct matrix make_matrix(const struct pattern* p, int n) {
  struct matrix m = {.rows = p->rows, .inner = p->inner};
  m.begin = allocate(((size_t)p->rows + 1) * sizeof *m.begin);
  m.column = allocate((size_t)p->rows * 27 * sizeof *m.column);
  m.value = allocate((size_t)p->rows * 27 * sizeof *m.value);
  long at = 0;
  for (int row = 0; row < p->rows; ++row) {
    int around[26];
    const int points = neighbours_of_row(n, p->row_id[row], around);
    m.begin[row] = at;
    m.column[at] = row, m.value[at++] = 26.0;
    for (int i = 0; i < points; ++i) m.column[at] = p->local_row[around[i]], m.value[at++] = -1.0;
  }
  m.begin[p->rows] = at;
  return m;
}

void free_matrix(struct matrix* m) {
  free(m->begin);
  free(m->column);
  free(m->value);
}

static void multiply_rows(const struct matrix* m, int from, int to, const double* in, double* out) {
  for (int row = from; row < to; ++row) {
    double sum = 0;
    for (long i = m->begin[row]; i < m->begin[row + 1]; ++i) sum += m->value[i] * in[m->column[i]];
    out[row] = sum;
  }
}

void multiply(const struct matrix* m, const struct way* way, struct exchange* e, double* out, struct times* times) {
  const double begin = now_ns();
  start_exchange(way, e);
  const double started = now_ns();
  multiply_rows(m, 0, m->inner, e->vector, out);
  const double inner = now_ns();
  way->finish(e);
  const double waited = now_ns();
  multiply_rows(m, m->inner, m->rows, e->vector, out);
  times->step[START] += started - begin;
  times->step[INNER] += inner - started;
  times->step[WAIT] += waited - inner;
  times->step[BOUNDARY] += now_ns() - waited;
  if (times->exchange) times->exchange[times->products++] = started - begin + waited - inner;
}
