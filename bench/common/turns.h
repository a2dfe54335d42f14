/* SPDX-License-Identifier: BSD-3-Clause */
// Jobs that run at the same time on the same cores and take turns of a few milliseconds, so that each measures its
// points on the machine as the others find it: the cores of a virtual machine are near each other in one moment and far
// in the next, and twice as fast where no neighbour uses what they share. What one turn took is compared with the
// others' turns beside it.
//
//   turns_join("1/2:/tmp/turns");     job 1 of jobs 0 and 1, which share that file (8 bytes or more); NULL: no turns
//   for each point:
//     for each turn: turns_next(), measure
//   turns_leave();
//
// Between turns_join and turns_leave a job runs only in its turn, and asleep the cores are the others'. All jobs call
// turns_next equally often. Collective over MPI_COMM_WORLD, whose ranks all run on one machine, test hosts or not.
// Needs _GNU_SOURCE.
#ifndef URAKATA_BENCH_TURNS_H
#define URAKATA_BENCH_TURNS_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "timing.h"

// For the usages.
#define TOGETHER_USAGE "  --together    I/N:FILE: take turns with other jobs, as job I of N that share FILE"
#define TURNS_USAGE "  --turns       turns for each point (1)\n" TOGETHER_USAGE

enum { MOST_TURNS = 1000, TURNS_TIMEOUT_S = 20 };

struct turns_page {
  atomic_uint turn;    // 0 until all have come; then it is job (turn - 1) % jobs that runs
  atomic_uint joined;  // ranks 0
};

static struct {
  struct turns_page* page;  // NULL: no turns
  unsigned jobs, next;      // the value of `turn` when it is this job's turn
} turns_state;

// Sleeps until `turn` is at least `wanted`.
static void turns_await(unsigned wanted) {
  const struct timespec timeout = {TURNS_TIMEOUT_S, 0};
  for (unsigned now; (now = atomic_load(&turns_state.page->turn)) < wanted;) {
    if (syscall(SYS_futex, &turns_state.page->turn, FUTEX_WAIT, now, &timeout, NULL, 0) != 0 && errno == ETIMEDOUT)
      fail("--together: another job has not taken its turn within %d s", TURNS_TIMEOUT_S);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void turns_wake_next(void) {
  atomic_fetch_add(&turns_state.page->turn, 1);
  syscall(SYS_futex, &turns_state.page->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void turns_pass(void) {
  int number;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Barrier(MPI_COMM_WORLD);
  if (number == 0) turns_wake_next();
}

// Waits until all jobs have come, and for the first turn.
static inline void turns_join(const char* how) {
  if (how == NULL) return;
  unsigned job;
  int number, path = 0;
  if (sscanf(how, "%u/%u:%n", &job, &turns_state.jobs, &path) != 2 || path == 0 || job >= turns_state.jobs)
    fail("--together: '%s' is not I/N:FILE, job I of jobs 0 to N-1", how);
  const int file = open(how + path, O_RDWR | O_CLOEXEC);
  void* const memory = mmap(NULL, sizeof *turns_state.page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail("--together: cannot share %s", how + path);
  close(file);
  turns_state.page = memory;
  turns_state.next = 1 + job;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Barrier(MPI_COMM_WORLD);
  if (number == 0 && atomic_fetch_add(&turns_state.page->joined, 1) + 1 == turns_state.jobs) turns_wake_next();
  turns_await(turns_state.next);
}

// Lets the others run until it is this job's turn again.
static inline void turns_next(void) {
  if (turns_state.page == NULL) return;
  turns_pass();
  turns_state.next += turns_state.jobs;
  turns_await(turns_state.next);
}

// Lets the others run until all have left: a job that ends would be in their way.
static inline void turns_leave(void) {
  if (turns_state.page == NULL) return;
  turns_pass();
  turns_await((turns_state.next - 1) / turns_state.jobs * turns_state.jobs + turns_state.jobs + 1);
}

static inline int parse_turns(long turns) {
  if (turns > MOST_TURNS) fail("--turns: at most %d", MOST_TURNS);
  return (int)turns;
}

struct turn_values {
  const char* quantity;
  const double* values;
};

// Ends a record: , "turns": {"us": [1.5, ...]}}
static inline void print_turns(const struct turn_values* of, int quantities, int turns) {
  printf(", \"turns\": {");
  for (int q = 0; q < quantities; ++q) {
    printf("%s\"%s\": [", q == 0 ? "" : ", ", of[q].quantity);
    for (int t = 0; t < turns; ++t) printf("%s%.4f", t == 0 ? "" : ", ", of[q].values[t]);
    printf("]");
  }
  printf("}}\n");
  fflush(stdout);
}

#endif
