// SPDX-License-Identifier: BSD-3-Clause
// A work queue: rank 0 hands tasks to whoever asks, and takes results from any source. Nothing is computed, so what is
// seen is what messages from any source cost where some senders are on rank 0's node and others are not.
//
// A worker receives a task, sends it back as its result and so asks for the next; rank 0 receives from MPI_ANY_SOURCE
// and answers the sender. Rank 0 prints the median over the turns, one JSON object for each size:
//   {"bytes": 8, "ranks": 4, "near": 1, "us": 3.1, "turns": {"us": [3.1, ...]}}
// us: of one task, in the time of all. near: how many workers share rank 0's node. Each result is checked, and that all
// tasks have come back.
#define _GNU_SOURCE
#include "arguments.h"
#include "loaded.h"
#include "turns.h"

static const char usage[] =
    "usage: queue [--sizes LIST] [--tasks N] [--turns N] [--together I/N:FILE]\n"
    "  --sizes  of a task and its result in bytes, with K and M (8,4K,64K); 8 and more\n"
    "  --tasks  in a turn (400)\n" TURNS_USAGE;

enum { TASK_TAG = 1, RESULT_TAG = 2, END_TAG = 3, LARGEST_SIZE = 64 << 20 };

static int rank, ranks;

static void work(char* task, int size) {
  for (;;) {
    MPI_Status status;
    MPI_Recv(task, size, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == END_TAG) return;
    MPI_Send(task, size, MPI_BYTE, 0, RESULT_TAG, MPI_COMM_WORLD);
  }
}

static void hand_out(char* task, int size, long number, long tasks, int to) {
  memset(task + size - 1, (char)number, 1);  // of larger ones than the number
  memcpy(task, &number, sizeof number);
  if (number < tasks)
    MPI_Send(task, size, MPI_BYTE, to, TASK_TAG, MPI_COMM_WORLD);
  else
    MPI_Send(NULL, 0, MPI_BYTE, to, END_TAG, MPI_COMM_WORLD);
}

static void take_results(char* task, char* result, int size, long tasks) {
  long next = 0, sum = 0;
  for (int worker = 1; worker < ranks; ++worker) hand_out(task, size, next++, tasks, worker);
  for (long taken = 0; taken < tasks; ++taken) {
    MPI_Status status;
    long number = -1;
    MPI_Recv(result, size, MPI_BYTE, MPI_ANY_SOURCE, RESULT_TAG, MPI_COMM_WORLD, &status);
    memcpy(&number, result, sizeof number);
    if (size > (int)sizeof number && result[size - 1] != (char)number)
      fail("queue: a result of %d bytes is not what was sent", size);
    sum += number;
    hand_out(task, size, next++, tasks, status.MPI_SOURCE);
  }
  if (sum != tasks * (tasks - 1) / 2) fail("queue: not every task has come back once");
}

// Microseconds that a task takes, at rank 0.
static double turn(char* task, char* result, int size, long tasks) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_ns();
  if (rank == 0)
    take_results(task, result, size, tasks);
  else
    work(task, size);
  return (now_ns() - begin) / 1e3 / (double)tasks;
}

static void measure(int size, int near, long tasks, int turns) {
  double us[MOST_TURNS], sorted[MOST_TURNS];
  char *const task = allocate((size_t)size), *const result = allocate((size_t)size);
  memset(task, 0, (size_t)size);
  for (int t = -1; t < turns; ++t) {  // the first warms up
    turns_next();
    const double took = turn(task, result, size, t < 0 ? 2 * ranks : tasks);
    if (t >= 0) sorted[t] = us[t] = took;
  }
  free(task);
  free(result);
  if (rank != 0) return;
  sort_samples(sorted, turns);
  printf("{\"bytes\": %d, \"ranks\": %d, \"near\": %d, \"us\": %.4f", size, ranks, near, quantile(sorted, turns, 0.5));
  print_turns(&(struct turn_values){"us", us}, 1, turns);
}

static int workers_near(void) {
  MPI_Comm node;
  int size;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  MPI_Comm_free(&node);
  return size - 1;
}

int main(int argc, char** argv) {
  static char all_sizes[] = "8,4K,64K";
  char *sizes = all_sizes, *together = NULL;
  long bytes[MAX_LIST], tasks = 400, turns = 1;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--sizes", &sizes, NULL, 0},
                                   {"--tasks", NULL, &tasks, 1},
                                   {"--turns", NULL, &turns, 1},
                                   {"--together", &together, NULL, 0}};
  parse_options(argc, argv, options, 4, usage);
  parse_turns(turns);
  const int count = parse_numbers("--sizes", sizes, (long)sizeof(long), bytes);
  for (int i = 0; i < count; ++i)
    if (bytes[i] > LARGEST_SIZE) fail("--sizes: at most %d", LARGEST_SIZE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) fail("queue: a rank that hands out, and at least one that works");
  const int near = workers_near();
  print_loaded();
  turns_join(together);
  for (int i = 0; i < count; ++i) measure((int)bytes[i], near, tasks, (int)turns);
  turns_leave();
  MPI_Finalize();
  return 0;
}
