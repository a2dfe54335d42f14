// SPDX-License-Identifier: BSD-3-Clause
// A program of many small operations and many communicators, as test suites of MPI bindings are: the mix of mpi4py's
// tests of collectives, messages and requests. Of 100 completions there 23 are of persistent collectives, and there
// are 29 blocking barriers; a communicator, most of them duplicates, lives for about 400 completions.
//
// A turn makes --communicators communicators, of each kind in turn: duplicates of MPI_COMM_WORLD and MPI_COMM_SELF, a
// split, a ring, a group's, two groups. On each it does --rounds rounds of 1 to 16 integers: all collectives, blocking
// and non-blocking, every second time persistent, and messages in all modes. All results are checked. Rank 0 prints
//   {"ranks": 3, "communicators": 12, "rounds": 4, "ms": 55.1}
// ms: of one turn, on the slowest rank; the median over turns. It ends with "turns": {"ms": [...]}. Then it prints
//   {"threads": 6, "sockets": 18, "segments": 52871}
// what the processes of all ranks have at the end, and how many segments with data their connections have sent.
#define _GNU_SOURCE
#include <string.h>

#include "arguments.h"
#include "collectives.h"
#include "loaded.h"
#include "messages.h"
#include "process_counts.h"
#include "turns.h"

static const char usage[] =
    "usage: suite [--communicators N] [--rounds N] [--seed N] [--turns N] [--together I/N:FILE]\n"
    "  --communicators  made in a turn (12)\n"
    "  --rounds         on each (4)\n"
    "  --seed           of counts, roots and ways to complete (1)\n"
    "  --turns          of which the median is shown (1)\n" TOGETHER_USAGE;

enum kind { DUP, SPLIT, DUP_SELF, RING, GROUP, TWO_GROUPS };

// As many duplicates as mpi4py's tests make: two of three.
static const enum kind kinds[] = {DUP,      SPLIT, DUP_SELF, DUP,      RING, DUP,
                                  DUP_SELF, GROUP, DUP,      DUP_SELF, DUP,  TWO_GROUPS};
enum { KINDS = sizeof kinds / sizeof *kinds, BUFFERED_BYTES = 1 << 20 };

static MPI_Comm make_two_groups(int rank, int ranks, int half) {
  MPI_Comm own, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank < half, 0, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank < half ? half : 0, ranks, &both);
  MPI_Comm_free(&own);
  return both;
}

static MPI_Comm make(enum kind kind, int rank, int ranks, int number) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group group;
  switch (kind) {
    case DUP:
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      break;
    case DUP_SELF:
      MPI_Comm_dup(MPI_COMM_SELF, &comm);
      break;
    case SPLIT:
      MPI_Comm_split(MPI_COMM_WORLD, 0, (rank + number) % ranks, &comm);
      break;
    case RING:
      MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (int[]){1}, 0, &comm);
      break;
    case GROUP:
      MPI_Comm_group(MPI_COMM_WORLD, &group);
      MPI_Comm_create_group(MPI_COMM_WORLD, group, number, &comm);
      MPI_Group_free(&group);
      break;
    case TWO_GROUPS:
      comm = make_two_groups(rank, ranks, ranks / 2);
  }
  return comm;
}

static void run_round(struct suite* s, enum kind kind, int round) {
  const enum form last = round % 2 == 0 ? PERSISTENT : NON_BLOCKING;
  for (enum form form = BLOCKING; form <= last; ++form) {
    if (kind == TWO_GROUPS) {
      if (form != PERSISTENT) between_groups(s, form, s->ranks / 2);
      continue;
    }
    equal_blocks(s, form);
    unequal_blocks(s, form);
    messages(s, form);
    if (kind == RING) neighbours(s, form);
  }
  if (kind == TWO_GROUPS) return;
  probed_message(s, round % 2);
  cancelled_receive(s);
}

static void print_counts(int rank) {
  const struct process_counts own = count_process();
  struct process_counts all = own;
  MPI_Reduce(&own, &all, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("{\"threads\": %ld, \"sockets\": %ld, \"segments\": %ld}\n", all.threads, all.sockets, all.segments);
  }
}

// The time of one turn on the slowest rank, at rank 0, in milliseconds.
static double turn(struct suite* s, long communicators, long rounds) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_ns();
  for (int number = 0; number < communicators; ++number) {
    const enum kind kind = ranks == 1 && kinds[number % KINDS] == TWO_GROUPS ? DUP : kinds[number % KINDS];
    s->comm = make(kind, rank, ranks, number);
    MPI_Comm_rank(s->comm, &s->rank);
    MPI_Comm_size(s->comm, &s->ranks);
    if (kind == TWO_GROUPS) s->rank = rank, s->ranks = ranks;
    for (int round = 0; round < rounds; ++round) run_round(s, kind, round);
    MPI_Comm_free(&s->comm);
  }
  const double own = (now_ns() - begin) / 1e6;
  double slowest = 0;
  MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest;
}

int main(int argc, char** argv) {
  static struct suite suite;
  long communicators = 12, rounds = 4, seed = 1, turns = 1;
  char* together = NULL;
  int rank, ranks, size;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--communicators", NULL, &communicators, 1},
                                   {"--rounds", NULL, &rounds, 1},
                                   {"--seed", NULL, &seed, 0},
                                   {"--turns", NULL, &turns, 1},
                                   {"--together", &together, NULL, 0}};
  parse_options(argc, argv, options, 5, usage);
  parse_turns(turns);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > MOST_RANKS) fail("suite: at most %d ranks", MOST_RANKS);
  print_loaded();
  suite.random = (unsigned long long)seed;
  void* buffered = allocate(BUFFERED_BYTES);
  MPI_Buffer_attach(buffered, BUFFERED_BYTES);

  double ms[MOST_TURNS], sorted[MOST_TURNS];
  turns_join(together);
  turn(&suite, 1, rounds);  // warms up
  for (int i = 0; i < turns; ++i) {
    turns_next();
    ms[i] = turn(&suite, communicators, rounds);
  }
  turns_leave();
  if (rank == 0) {
    memcpy(sorted, ms, (size_t)turns * sizeof *ms);
    sort_samples(sorted, (int)turns);
    printf("{\"ranks\": %d, \"communicators\": %ld, \"rounds\": %ld, \"ms\": %.4f", ranks, communicators, rounds,
           quantile(sorted, (int)turns, 0.5));
    print_turns(&(struct turn_values){"ms", ms}, 1, (int)turns);
  }
  print_counts(rank);
  MPI_Buffer_detach(&buffered, &size);
  free(buffered);
  MPI_Finalize();
  return 0;
}
