/* SPDX-License-Identifier: BSD-3-Clause */
/* The four loops of the overlap benchmark, and their samples. */
#ifndef URAKATA_BENCH_OVERLAP_LOOPS_H
#define URAKATA_BENCH_OVERLAP_LOOPS_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "ending.h"
#include "operations.h"
#include "sockets.h"
#include "work.h"

enum { EMPTY_TESTS = 50 };

/* The parts of a turn that are timed, at most. */
enum { WIDTH = 4 };

/* How the times of all ranks become one sample.
   LONGEST: of the durations.
   SPAN: from the first rank that begins to the last that ends. Where ranks share a core one may begin only when another
   has ended, and the longest duration of a rank would then be half of what the job takes. */
enum join { LONGEST, SPAN };

/* The samples of one loop, one for each turn; `width` parts are timed in each turn. */
struct samples {
  int turns, taken, width; /* to take, taken so far */
  enum join join[WIDTH];
  double *begin, *end;             /* [width][turns], on the job's clock; until samples_join */
  double* time;                    /* [width][turns], of rank 0 after samples_join */
  double caller_cpu, progress_cpu; /* CPU time a turn: of the longest rank, of the mean over the ranks */
};

static int rank, ranks;
static struct team team;

static void* checked(void* memory) {
  if (!memory) end_job("overlap: rank %d has no memory left", rank);
  return memory;
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(const double* values, int count) {
  double* sorted = checked(malloc((size_t)count * sizeof *sorted));
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, by_size);
  const double middle = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
  free(sorted);
  return middle;
}

static struct samples samples_open(int turns, int width, const enum join* join) {
  struct samples s = {.turns = turns, .width = width};
  const size_t count = (size_t)turns * (size_t)width;
  memcpy(s.join, join, (size_t)width * sizeof *join);
  s.time = checked(calloc(count, sizeof *s.time));
  s.begin = checked(calloc(2 * count, sizeof *s.begin));
  s.end = s.begin + count;
  return s;
}

/* Of the turn that runs now. */
static void keep(struct samples* s, int part, double begin, double end) {
  s->begin[part * s->turns + s->taken] = begin;
  s->end[part * s->turns + s->taken] = end;
}

/* Makes one sample of what the ranks measured in a turn. Only rank 0 has them then. */
static void samples_join(struct samples* s) {
  for (int part = 0; part < s->width; ++part) {
    double *begin = s->begin + part * s->turns, *end = s->end + part * s->turns, *time = s->time + part * s->turns;
    for (int turn = 0; s->join[part] == LONGEST && turn < s->turns; ++turn) end[turn] -= begin[turn], begin[turn] = 0.0;
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : begin, begin, s->turns, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(end, time, s->turns, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int turn = 0; turn < s->turns; ++turn) time[turn] -= begin[turn];
  }
  free(s->begin);
  s->begin = s->end = NULL;
  const double mine[2] = {s->caller_cpu / s->turns, s->progress_cpu / s->turns};
  double sum = 0.0, most = 0.0;
  MPI_Reduce(&mine[0], &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&mine[1], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  s->caller_cpu = most;
  s->progress_cpu = sum / ranks;
}

static struct samples pure_open(int turns) {
  static const enum join join[] = {SPAN, LONGEST};
  return samples_open(turns, 2, join);
}

/* Each of these takes so many turns more. */
static void pure_loop(struct samples* s, const struct operation* op, const struct call* c, int turns) {
  const double progress_thread = progress_cpu_us(&team);
  for (const int end = s->taken + turns; s->taken < end; ++s->taken) {
    MPI_Request request;
    const double start = now_us();
    op->start(c, &request);
    const double started = now_us();
    finish(op, &request);
    keep(s, 0, start, now_us());
    keep(s, 1, start, started);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  s->progress_cpu += progress_cpu_us(&team) - progress_thread;
}

static struct samples compute_open(int turns) {
  static const enum join join[] = {SPAN};
  return samples_open(turns, 1, join);
}

static void compute_loop(struct samples* s, struct work* work, uint64_t amount, int turns) {
  const double progress_thread = progress_cpu_us(&team);
  for (const int end = s->taken + turns; s->taken < end; ++s->taken) {
    const double start = now_us();
    work_do(work, amount);
    keep(s, 0, start, now_us());
    MPI_Barrier(MPI_COMM_WORLD);
  }
  s->progress_cpu += progress_cpu_us(&team) - progress_thread;
}

static struct samples both_open(int turns) {
  static const enum join join[] = {LONGEST, SPAN, LONGEST, SPAN};
  return samples_open(turns, 4, join);
}

static void both_loop(struct samples* s, const struct operation* op, const struct call* c, struct work* work,
                      uint64_t amount, int turns) {
  const double progress_thread = progress_cpu_us(&team);
  for (const int end = s->taken + turns; s->taken < end; ++s->taken) {
    MPI_Request request;
    const double start = now_us();
    op->start(c, &request);
    const double started = now_us();
    work_do(work, amount);
    const double computed = now_us();
    finish(op, &request);
    const double done = now_us();
    keep(s, 0, start, started);
    keep(s, 1, started, computed);
    keep(s, 2, computed, done);
    keep(s, 3, start, done);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  s->progress_cpu += progress_cpu_us(&team) - progress_thread;
}

/* CPU time of one test that finds nothing, and the nap after it. */
static double empty_test_cpu_us(double nap) {
  MPI_Request request;
  char byte = 0, sent = 1;
  int done = 0;
  MPI_Irecv(&byte, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
  const double before = caller_cpu_us();
  for (int i = 0; i < EMPTY_TESTS; ++i) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    sleep_us(nap);
  }
  const double used = caller_cpu_us() - before;
  MPI_Send(&sent, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return used / EMPTY_TESTS;
}

/* The caller's CPU time in start and tests, less what as many tests cost that find nothing. The caller sleeps between
   tests, so waiting for others costs nothing: what remains is the work that communication itself takes. */
static struct samples tested_loop(const struct operation* op, const struct call* c, double pure_us, int turns) {
  static const enum join join[] = {SPAN};
  struct samples s = samples_open(turns, 1, join);
  const double nap = pure_us / 16 < 50.0 ? 50.0 : pure_us / 16 > 2000.0 ? 2000.0 : pure_us / 16;
  const double empty = empty_test_cpu_us(nap);
  MPI_Barrier(MPI_COMM_WORLD);
  const double progress_thread = progress_cpu_us(&team);
  for (; s.taken < turns; ++s.taken) {
    MPI_Request request;
    int done = 0, naps = 0;
    const double start = now_us();
    const double before = caller_cpu_us();
    op->start(c, &request);
    for (;;) {
      probe(op, &request, &done);
      if (done) break;
      sleep_us(nap);
      ++naps;
    }
    const double used = caller_cpu_us() - before - naps * empty;
    s.caller_cpu += used > 0.0 ? used : 0.0;
    keep(&s, 0, start, now_us());
    MPI_Barrier(MPI_COMM_WORLD);
  }
  s.progress_cpu = progress_cpu_us(&team) - progress_thread;
  return s;
}

#endif
