// SPDX-License-Identifier: BSD-3-Clause
// What recording for a report costs a call: small ones between two ranks, to be run with a report and without.
//
// Rank 0 prints a JSON object for each:
//   {"kind": "pingpong", "bytes": 8, "batches": 200, "ns": 90.0}              half a round trip of MPI_Send and MPI_Recv
//   {"kind": "call", "name": "MPI_Iallreduce", "batches": 200, "ns": 240.0}   the call that starts one of 8 bytes
//   {"kind": "call", "name": "MPI_Wait", "batches": 200, "ns": 150.0}         and the one that ends it
// The batches' mean times are the samples; ns is their median. A record ends with "turns": {"ns": [...]}, the median of
// each turn.
#define _GNU_SOURCE
#include "arguments.h"
#include "loaded.h"
#include "turns.h"

static const char usage[] =
    "usage: recording [--batches N] [--batch-us N] [--turns N] [--together I/N:FILE]\n"
    "  --batches   batches of each kind (200)\n"
    "  --batch-us  about how long a batch takes (300)\n" TURNS_USAGE;

enum { KINDS = 3, OPEN = 16 };
static const char* const beginnings[KINDS] = {"\"kind\": \"pingpong\", \"bytes\": 8",
                                              "\"kind\": \"call\", \"name\": \"MPI_Iallreduce\"",
                                              "\"kind\": \"call\", \"name\": \"MPI_Wait\""};

static int rank;

// Nanoseconds of half a round trip, over this many round trips.
static double ping_pong(int turns) {
  double value = 0;
  const double before = now_ns();
  for (int i = 0; i < turns; ++i) {
    if (rank == 0) MPI_Send(&value, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  }
  return (now_ns() - before) / turns / 2;
}

// Nanoseconds of a start and of a wait, over at least this many. A few at a time, so that the clock counts for little;
// both ranks begin the waits together, when all that there is to do is done.
static void start_and_wait(int operations, double* start, double* wait) {
  double out = rank, in[OPEN];
  MPI_Request requests[OPEN];
  *start = *wait = 0;
  const int groups = operations / OPEN + 1;
  for (int i = 0; i < groups; ++i) {
    double before = now_ns();
    for (int k = 0; k < OPEN; ++k) MPI_Iallreduce(&out, in + k, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, requests + k);
    *start += now_ns() - before;
    int done = 0;
    while (!done) MPI_Request_get_status(requests[OPEN - 1], &done, MPI_STATUS_IGNORE);
    before = now_ns();
    for (int k = 0; k < OPEN; ++k) MPI_Wait(requests + k, MPI_STATUS_IGNORE);
    *wait += now_ns() - before;
  }
  *start /= (double)groups * OPEN;
  *wait /= (double)groups * OPEN;
}

int main(int argc, char** argv) {
  char* together = NULL;
  long batches = 200, batch_us = 300, turns = 1;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--batches", NULL, &batches, 1},
                                   {"--batch-us", NULL, &batch_us, 1},
                                   {"--turns", NULL, &turns, 1},
                                   {"--together", &together, NULL, 0}};
  parse_options(argc, argv, options, 4, usage);
  const int of_turn = (int)((batches + turns - 1) / turns), turn_count = parse_turns(turns);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) fail("recording wants exactly two ranks, not %d", ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  print_loaded();

  enum { TRIAL = 100 };
  const int count = of_turn * turn_count;
  double* samples[KINDS];
  static double of_turns[KINDS][MOST_TURNS];
  for (int k = 0; k < KINDS; ++k) samples[k] = allocate((size_t)count * sizeof(double));
  turns_join(together);
  double repeats[2], start, wait;
  for (int i = 0; i < count; ++i) {
    if (i % of_turn == 0) {
      turns_next();
      repeats[0] = (double)batch_us * 1e3 / (2 * ping_pong(TRIAL)) + 1;
      start_and_wait(TRIAL, &start, &wait);
      repeats[1] = (double)batch_us * 1e3 / (start + wait) + 1;
      MPI_Bcast(repeats, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    samples[0][i] = ping_pong((int)repeats[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    start_and_wait((int)repeats[1], samples[1] + i, samples[2] + i);
  }
  turns_leave();
  for (int k = 0; k < KINDS; ++k) {
    for (int t = 0; t < turn_count; ++t) {
      sort_samples(samples[k] + t * of_turn, of_turn);
      of_turns[k][t] = quantile(samples[k] + t * of_turn, of_turn, 0.5);
    }
    sort_samples(samples[k], count);
    if (rank == 0) {
      printf("{%s, \"batches\": %d, \"ns\": %.2f", beginnings[k], count, quantile(samples[k], count, 0.5));
      print_turns(&(struct turn_values){"ns", of_turns[k]}, 1, turn_count);
    }
    free(samples[k]);
  }
  MPI_Finalize();
  return 0;
}
