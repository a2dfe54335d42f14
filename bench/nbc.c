// SPDX-License-Identifier: BSD-3-Clause
// Time from start to completion of non-blocking collectives with nothing between start and wait.
//
// Of each repetition the slowest rank counts; the median over repetitions is printed, one JSON object a line, by rank
// 0:
//   {"operation": "iallgather", "bytes": 8, "ranks": 2, "repetitions": 1000, "us": 3.1, "low_us": 3.0, "high_us": 3.4}
// low and high are the quartiles. All ranks begin a repetition at a moment that they have agreed on.
// It ends with "turns": {"us": [...]}, the median of each turn.
#define _GNU_SOURCE
#include "arguments.h"
#include "collective.h"
#include "loaded.h"
#include "turns.h"

static const char usage[] =
    "usage: nbc [--operations LIST] [--sizes LIST] [--budget-ms N] [--least N] [--most N] [--settle-us N]\n"
    "           [--turns N] [--together I/N:FILE]\n"
    "  --operations  of ibcast, iallgather, iallreduce, ialltoall (all)\n"
    "  --sizes       message sizes in bytes, with K and M (8,64,512,4K,32K,256K,1M,4M); multiples of 4\n"
    "  --budget-ms   time for one operation and size, from which the number of repetitions follows (30)\n"
    "  --least       fewest repetitions (3)\n"
    "  --most        most repetitions (2000)\n"
    "  --settle-us   time that they have to agree on when a repetition begins (5)\n" TURNS_USAGE;

enum { LARGEST_SIZE = 64 * 1024 * 1024 };

struct settings {
  enum operation operations[MAX_LIST];
  int operation_count;
  long sizes[MAX_LIST];
  int size_count;
  double budget_ns, settle_ns;
  int least, most;
  int turns;
  const char* together;
};

static struct settings parse(int argc, char** argv) {
  static char all_operations[] = "ibcast,iallgather,iallreduce,ialltoall";
  static char all_sizes[] = "8,64,512,4K,32K,256K,1M,4M";
  char *operations = all_operations, *sizes = all_sizes;
  char* together = NULL;
  long budget_ms = 30, settle_us = 5, least = 3, most = 2000, turns = 1;
  const struct option options[] = {
      {"--operations", &operations, NULL, 0}, {"--sizes", &sizes, NULL, 0},      {"--budget-ms", NULL, &budget_ms, 1},
      {"--least", NULL, &least, 1},           {"--most", NULL, &most, 1},        {"--settle-us", NULL, &settle_us, 0},
      {"--turns", NULL, &turns, 1},           {"--together", &together, NULL, 0}};
  parse_options(argc, argv, options, 8, usage);
  struct settings s = {.budget_ns = (double)budget_ms * 1e6,
                       .settle_ns = (double)settle_us * 1e3,
                       .least = (int)least,
                       .most = (int)(most < least ? least : most),
                       .turns = parse_turns(turns),
                       .together = together};
  char* names[MAX_LIST];
  s.operation_count = split_list("--operations", operations, names);
  for (int i = 0; i < s.operation_count; ++i) s.operations[i] = find_operation(names[i]);
  s.size_count = parse_numbers("--sizes", sizes, 4, s.sizes);
  for (int i = 0; i < s.size_count; ++i)
    if (s.sizes[i] % 4 != 0 || s.sizes[i] > LARGEST_SIZE)
      fail("--sizes: %ld is not a multiple of 4 up to %d", s.sizes[i], LARGEST_SIZE);
  return s;
}

// A barrier lets go of who comes last first (Hunold, Carpen-Amarie: Reproducible MPI benchmarking is still not as easy
// as you think, TPDS 2016): after a broadcast whose root is done early the root would begin 0.2 us behind those who
// wait for it. All ranks are on one machine and have one clock, so they agree on a moment. Where agreeing takes longer
// than settle_ns, between test hosts, the ranks begin settle_ns after it.
static void begin_together(double settle_ns) {
  MPI_Barrier(MPI_COMM_WORLD);
  double moment = now_ns() + settle_ns;
  MPI_Allreduce(MPI_IN_PLACE, &moment, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double left = moment - now_ns();
  spin_ns(left > 0 ? left : settle_ns);
}

// One repetition on this rank, in nanoseconds.
static double repeat(enum operation operation, int bytes, const struct buffers* buffers, double settle_ns) {
  begin_together(settle_ns);
  const double before = now_ns();
  MPI_Request request = start(operation, bytes, buffers);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return now_ns() - before;
}

// Warms up, and from the median time that this takes (the first may be long, and any may be disturbed) decides, equally
// on all ranks, how many repetitions of a turn fit the budget.
static int warm_up(enum operation operation, int bytes, const struct buffers* buffers, const struct settings* s) {
  enum { FEWEST = 3, MOST = 15 };
  double times[MOST], spent = 0;
  int count = 0;
  check_operation(operation, bytes, buffers);
  while (count < FEWEST || (count < MOST && spent < s->budget_ns / 4)) {
    const double before = now_ns();
    repeat(operation, bytes, buffers, s->settle_ns);
    double took = now_ns() - before;
    MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    times[count++] = took;
    spent += took;
  }
  sort_samples(times, count);
  const double fitting = s->budget_ns / quantile(times, count, 0.5);
  const int all = fitting < s->least ? s->least : fitting > s->most ? s->most : (int)fitting;
  return (all + s->turns - 1) / s->turns;
}

static void measure(enum operation operation, int bytes, const struct buffers* buffers, const struct settings* s) {
  const int of_turn = warm_up(operation, bytes, buffers, s);
  const int repetitions = of_turn * s->turns;
  double* const own = allocate((size_t)repetitions * sizeof(double));
  double* const slowest = allocate((size_t)repetitions * sizeof(double));
  for (int i = 0; i < repetitions; ++i) {
    if (i % of_turn == 0) {
      turns_next();
      repeat(operation, bytes, buffers, s->settle_ns);
    }
    own[i] = repeat(operation, bytes, buffers, s->settle_ns);
  }
  MPI_Reduce(own, slowest, repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (buffers->rank == 0) {
    double of_turns[MOST_TURNS];
    for (int t = 0; t < s->turns; ++t) {
      sort_samples(slowest + t * of_turn, of_turn);
      of_turns[t] = quantile(slowest + t * of_turn, of_turn, 0.5) / 1e3;
    }
    sort_samples(slowest, repetitions);
    printf(
        "{\"operation\": \"%s\", \"bytes\": %d, \"ranks\": %d, \"repetitions\": %d, \"us\": %.4f, \"low_us\": %.4f, "
        "\"high_us\": %.4f",
        operation_names[operation], bytes, buffers->ranks, repetitions, quantile(slowest, repetitions, 0.5) / 1e3,
        quantile(slowest, repetitions, 0.25) / 1e3, quantile(slowest, repetitions, 0.75) / 1e3);
    print_turns(&(struct turn_values){"us", of_turns}, 1, s->turns);
  }
  free(own);
  free(slowest);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct settings settings = parse(argc, argv);
  print_loaded();
  long largest = 0;
  for (int i = 0; i < settings.size_count; ++i)
    if (settings.sizes[i] > largest) largest = settings.sizes[i];
  struct buffers buffers = make_buffers((size_t)largest);
  turns_join(settings.together);
  for (int o = 0; o < settings.operation_count; ++o)
    for (int i = 0; i < settings.size_count; ++i)
      measure(settings.operations[o], (int)settings.sizes[i], &buffers, &settings);
  turns_leave();
  free_buffers(&buffers);
  MPI_Finalize();
  return 0;
}
