// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients, plain and pipelined.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver.h"

static double* vector(int rows) {
  double* const made = allocate((size_t)rows * sizeof(double));
  memset(made, 0, (size_t)rows * sizeof(double));
  return made;
}

static double dot(const double* a, const double* b, int rows) {
  double sum = 0;
  for (int i = 0; i < rows; ++i) sum += a[i] * b[i];
  return sum;
}

static double dot_all(const double* a, const double* b, int rows) {
  double sum = dot(a, b, rows);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// The time since `since` goes to `step`; returns now.
static double spent(struct times* times, enum step step, double since) {
  const double now = now_ns();
  times->step[step] += now - since;
  return now;
}

// The right side: each row's sum, for the solution of ones.
static double* right_side(const struct matrix* m) {
  double* const b = vector(m->rows);
  for (int row = 0; row < m->rows; ++row) {
    for (long i = m->begin[row]; i < m->begin[row + 1]; ++i) b[row] += m->value[i];
  }
  return b;
}

// Norm of b - matrix * x over that of b. Not part of what is measured.
static double check(const struct matrix* m, const struct way* way, struct exchange* e, const double* b, const double* x,
                    double* scratch) {
  struct times unused = {.all = 0};
  memcpy(e->vector, x, (size_t)m->rows * sizeof(double));
  multiply(m, way, e, scratch, &unused);
  for (int i = 0; i < m->rows; ++i) scratch[i] = b[i] - scratch[i];
  return sqrt(dot_all(scratch, scratch, m->rows) / dot_all(b, b, m->rows));
}

struct solution solve_plain(const struct matrix* m, const struct way* way, struct exchange* e, int most,
                            double tolerance, struct times* times) {
  const int rows = m->rows;
  double *const b = right_side(m), *const x = vector(rows), *const r = vector(rows), *const q = vector(rows);
  double* const p = e->vector;
  memcpy(r, b, (size_t)rows * sizeof(double));
  memcpy(p, b, (size_t)rows * sizeof(double));
  double rr = dot_all(r, r, rows);
  const double norm = rr;
  struct solution found = {0, 1.0, 0.0};
  const double begin = now_ns();
  while (found.iterations < most && found.residual > tolerance) {
    multiply(m, way, e, q, times);
    double at = now_ns();
    const double alpha = rr / dot_all(p, q, rows);
    at = spent(times, REDUCE, at);
    for (int i = 0; i < rows; ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    at = spent(times, VECTORS, at);
    const double next = dot_all(r, r, rows);
    at = spent(times, REDUCE, at);
    const double beta = next / rr;
    for (int i = 0; i < rows; ++i) p[i] = r[i] + beta * p[i];
    spent(times, VECTORS, at);
    rr = next;
    found.residual = sqrt(rr / norm);
    ++found.iterations;
  }
  times->all += now_ns() - begin;
  found.checked = check(m, way, e, b, x, q);
  free(b), free(x), free(r), free(q);
  return found;
}

struct solution solve_pipelined(const struct matrix* m, const struct way* way, struct exchange* e, int most,
                                double tolerance, struct times* times) {
  const int rows = m->rows;
  double *const b = right_side(m), *const x = vector(rows), *const r = vector(rows), *const p = vector(rows);
  double *const s = vector(rows), *const z = vector(rows), *const q = vector(rows);
  double* const w = e->vector;
  struct times unused = {.all = 0};
  memcpy(r, b, (size_t)rows * sizeof(double));
  memcpy(w, b, (size_t)rows * sizeof(double));
  multiply(m, way, e, q, &unused);
  memcpy(w, q, (size_t)rows * sizeof(double));
  double gamma = 0, alpha = 0, norm = 0;
  struct solution found = {0, 1.0, 0.0};
  const double begin = now_ns();
  for (;;) {
    double sums[2];
    MPI_Request request;
    double at = now_ns();
    sums[0] = dot(r, r, rows), sums[1] = dot(w, r, rows);
    MPI_Iallreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    spent(times, REDUCE, at);
    multiply(m, way, e, q, times);
    at = now_ns();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    at = spent(times, REDUCE, at);
    if (found.iterations == 0) norm = sums[0];
    found.residual = sqrt(sums[0] / norm);
    if (found.iterations == most || found.residual <= tolerance) break;
    const double beta = found.iterations > 0 ? sums[0] / gamma : 0.0;
    alpha = found.iterations > 0 ? sums[0] / (sums[1] - beta * sums[0] / alpha) : sums[0] / sums[1];
    gamma = sums[0];
    for (int i = 0; i < rows; ++i) {
      z[i] = q[i] + beta * z[i];
      s[i] = w[i] + beta * s[i];
      p[i] = r[i] + beta * p[i];
      x[i] += alpha * p[i];
      r[i] -= alpha * s[i];
      w[i] -= alpha * z[i];
    }
    spent(times, VECTORS, at);
    ++found.iterations;
  }
  times->all += now_ns() - begin;
  found.checked = check(m, way, e, b, x, q);
  free(b), free(x), free(r), free(p), free(s), free(z), free(q);
  return found;
}
