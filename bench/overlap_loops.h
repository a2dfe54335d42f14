/* The four loops of the overlap benchmark, and their samples. */
#ifndef URAKATA_BENCH_OVERLAP_LOOPS_H
#define URAKATA_BENCH_OVERLAP_LOOPS_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlap_clock.h"
#include "overlap_operations.h"
#include "overlap_work.h"

enum { EMPTY_TESTS = 50 };

/* The samples of one loop, one for each turn; `width` times are kept of each turn. */
struct samples {
  int turns, width;
  double* time;                  /* [width][turns] */
  double caller_cpu, helper_cpu; /* CPU time a turn: of the longest rank, of the mean over the ranks */
};

static int rank, ranks;
static struct team team;

static void* checked(void* memory) {
  if (!memory) {
    fprintf(stderr, "overlap: rank %d has no memory left\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
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

static struct samples samples_open(int turns, int width) {
  struct samples s = {turns, width, NULL, 0.0, 0.0};
  s.time = checked(calloc((size_t)turns * (size_t)width, sizeof *s.time));
  return s;
}

/* Makes each sample the longest of all ranks'. Only rank 0 has them then. */
static void samples_join(struct samples* s) {
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : s->time, s->time, s->turns * s->width, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  const double mine[2] = {s->caller_cpu / s->turns, s->helper_cpu / s->turns};
  double sum = 0.0, most = 0.0;
  MPI_Reduce(&mine[0], &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&mine[1], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  s->caller_cpu = most;
  s->helper_cpu = sum / ranks;
}

static struct samples pure_loop(const struct operation* op, const struct call* c, int turns) {
  struct samples s = samples_open(turns, 2);
  const double helper = helper_cpu_us(&team);
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Request request;
    const double start = now_us();
    op->start(c, &request);
    const double started = now_us();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    s.time[turn] = now_us() - start;
    s.time[turns + turn] = started - start;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  s.helper_cpu = helper_cpu_us(&team) - helper;
  return s;
}

static struct samples compute_loop(struct work* work, uint64_t amount, int turns) {
  struct samples s = samples_open(turns, 1);
  const double helper = helper_cpu_us(&team);
  for (int turn = 0; turn < turns; ++turn) {
    const double start = now_us();
    work_do(work, amount);
    s.time[turn] = now_us() - start;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  s.helper_cpu = helper_cpu_us(&team) - helper;
  return s;
}

static struct samples both_loop(const struct operation* op, const struct call* c, struct work* work, uint64_t amount,
                                int turns) {
  struct samples s = samples_open(turns, 4);
  const double helper = helper_cpu_us(&team);
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Request request;
    const double start = now_us();
    op->start(c, &request);
    const double started = now_us();
    work_do(work, amount);
    const double computed = now_us();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const double done = now_us();
    s.time[turn] = started - start;
    s.time[turns + turn] = computed - started;
    s.time[2 * turns + turn] = done - computed;
    s.time[3 * turns + turn] = done - start;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  s.helper_cpu = helper_cpu_us(&team) - helper;
  return s;
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
  struct samples s = samples_open(turns, 1);
  const double nap = pure_us / 16 < 50.0 ? 50.0 : pure_us / 16 > 2000.0 ? 2000.0 : pure_us / 16;
  const double empty = empty_test_cpu_us(nap);
  MPI_Barrier(MPI_COMM_WORLD);
  const double helper = helper_cpu_us(&team);
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Request request;
    int done = 0, naps = 0;
    const double start = now_us();
    const double before = caller_cpu_us();
    op->start(c, &request);
    for (;;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done) break;
      sleep_us(nap);
      ++naps;
    }
    const double used = caller_cpu_us() - before - naps * empty;
    s.caller_cpu += used > 0.0 ? used : 0.0;
    s.time[turn] = now_us() - start;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  s.helper_cpu = helper_cpu_us(&team) - helper;
  return s;
}

#endif
