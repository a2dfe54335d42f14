// SPDX-License-Identifier: BSD-3-Clause
// What progress threads cost when nothing is pending: context switches of the threads named urakata*, after a
// non-blocking collective has been used and has finished.
//
// For each window rank 0 prints the worst rank:
//   {"window": "sleep", "seconds": 1.0, "helpers": 1, "switches": 0, "per_second": 0.0}
// `progress_threads` is the least over ranks. In a window of kind sleep the program sleeps, in one of kind compute it
// computes.
#define _GNU_SOURCE
#include <dirent.h>
#include <unistd.h>

#include "arguments.h"
#include "loaded.h"

static const char usage[] =
    "usage: idle [--window-ms N] [--windows N]\n"
    "  --window-ms  length of a window (1000)\n"
    "  --windows    windows of each kind (2)";

struct progress_threads {
  int count;
  double switches;
};

// Context switches, voluntary and not, that the kernel has counted for a thread.
static double switches_of(const char* thread) {
  char path[300], line[256];
  snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
  FILE* const status = fopen(path, "r");
  double sum = 0;
  unsigned long long count = 0;
  if (!status) return 0;
  while (fgets(line, sizeof line, status))
    if (sscanf(line, "voluntary_ctxt_switches: %llu", &count) == 1 ||
        sscanf(line, "nonvoluntary_ctxt_switches: %llu", &count) == 1)
      sum += (double)count;
  fclose(status);
  return sum;
}

static int is_progress_thread(const char* thread) {
  char path[300], name[64] = "";
  snprintf(path, sizeof path, "/proc/self/task/%s/comm", thread);
  FILE* const comm = fopen(path, "r");
  if (!comm) return 0;
  const int read = fgets(name, sizeof name, comm) != NULL;
  fclose(comm);
  return read && strncmp(name, "urakata", 7) == 0;
}

static struct progress_threads count_switches(void) {
  struct progress_threads found = {0, 0};
  DIR* const threads = opendir("/proc/self/task");
  if (!threads) fail("/proc/self/task cannot be read");
  for (struct dirent* entry = readdir(threads); entry; entry = readdir(threads)) {
    if (entry->d_name[0] == '.' || !is_progress_thread(entry->d_name)) continue;
    ++found.count;
    found.switches += switches_of(entry->d_name);
  }
  closedir(threads);
  return found;
}

static void use_collectives(void) {
  enum { TIMES = 100, FLOATS = 16384 };
  static float in[FLOATS], out[FLOATS];
  for (int i = 0; i < TIMES; ++i) {
    MPI_Request request;
    MPI_Iallreduce(in, out, FLOATS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  long window_ms = 1000, windows = 2;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--window-ms", NULL, &window_ms, 1}, {"--windows", NULL, &windows, 1}};
  parse_options(argc, argv, options, 2, usage);
  print_loaded();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (long i = 0; i < 2 * windows; ++i) {
    const int sleeping = i % 2 == 0;
    use_collectives();
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(100 * 1000);  // a progress thread may look about for a moment before it lies down
    const struct progress_threads before = count_switches();
    const double begin = now_ns();
    if (sleeping)
      usleep((useconds_t)window_ms * 1000);
    else
      spin_ns((double)window_ms * 1e6);
    const double seconds = (now_ns() - begin) / 1e9;
    const struct progress_threads after = count_switches();
    double switches = after.switches - before.switches, rate = switches / seconds;
    int progress_threads = after.count;
    double most_switches = 0, most_rate = 0;
    int least_progress_threads = 0;
    MPI_Reduce(&switches, &most_switches, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&rate, &most_rate, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&progress_threads, &least_progress_threads, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("{\"window\": \"%s\", \"seconds\": %.3f, \"helpers\": %d, \"switches\": %.0f, \"per_second\": %.2f}\n",
             sleeping ? "sleep" : "compute", seconds, least_progress_threads, most_switches, most_rate);
      fflush(stdout);
    }
  }
  MPI_Finalize();
  return 0;
}
