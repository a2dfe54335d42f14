// SPDX-License-Identifier: BSD-3-Clause
// The host's own MPI_Allreduce of floats between the ranks of a node, with buffers that are used again and with fresh
// ones: pages that the rank has just been given, the input written, the result not yet touched.
//
// Of each repetition the slowest rank counts. Rank 0 prints the median over repetitions, one JSON object a line:
//   {"buffers": "fresh", "bytes": 262144, "ranks": 2, "space": false, "us": 210.5, "turns": {"us": [210.1, ...]}}
// The last result of each turn is checked.
#define _GNU_SOURCE
#include <stdbool.h>

#include "arguments.h"
#include "loaded.h"
#include "turns.h"

static const char usage[] =
    "usage: allreduce [--sizes LIST] [--repetitions N] [--turns N] [--together I/N:FILE]\n"
    "  --sizes        of the buffer in bytes, with K and M (256K,1M,4M); multiples of 4\n"
    "  --repetitions  in a turn (8)\n" TURNS_USAGE;

enum { LARGEST_SIZE = 64 << 20, MOST_REPETITIONS = 1000 };

static int rank, ranks;

static float* map_pages(size_t bytes) {
  void* const pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) fail("allreduce: no memory for %zu bytes", bytes);
  return pages;
}

static void write_input(float* in, int count) {
  for (int i = 0; i < count; ++i) in[i] = (float)(rank + i % 100);
}

static void check(const float* out, int count) {
  for (int i = 0; i < count; ++i) {
    const float expected = (float)(ranks * (ranks - 1) / 2 + ranks * (i % 100));
    if (out[i] == expected) continue;
    end_job("allreduce: element %d is %g instead of %g", i, (double)out[i], (double)expected);
  }
}

// The median over the repetitions of one turn of what the slowest rank took, at rank 0, in microseconds.
static double turn(bool fresh, size_t bytes, int repetitions) {
  const int count = (int)(bytes / sizeof(float));
  double own[MOST_REPETITIONS], slowest[MOST_REPETITIONS];
  float *in = map_pages(bytes), *out = map_pages(bytes);
  write_input(in, count);
  for (int i = -1; i < repetitions; ++i) {  // the first warms up
    if (fresh && i >= 0) {
      munmap(in, bytes);
      munmap(out, bytes);
      in = map_pages(bytes);
      out = map_pages(bytes);
      write_input(in, count);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = now_ns();
    MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (i >= 0) own[i] = (now_ns() - before) / 1e3;
  }
  check(out, count);
  munmap(in, bytes);
  munmap(out, bytes);
  MPI_Reduce(own, slowest, repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return 0;
  sort_samples(slowest, repetitions);
  return quantile(slowest, repetitions, 0.5);
}

static void measure(bool fresh, size_t bytes, int repetitions, int turns) {
  double us[MOST_TURNS], sorted[MOST_TURNS];
  for (int t = 0; t < turns; ++t) {
    turns_next();
    sorted[t] = us[t] = turn(fresh, bytes, repetitions);
  }
  if (rank != 0) return;
  sort_samples(sorted, turns);
  printf("{\"buffers\": \"%s\", \"bytes\": %zu, \"ranks\": %d, \"space\": %s, \"us\": %.4f", fresh ? "fresh" : "reused",
         bytes, ranks, in_space() ? "true" : "false", quantile(sorted, turns, 0.5));
  print_turns(&(struct turn_values){"us", us}, 1, turns);
}

int main(int argc, char** argv) {
  static char all_sizes[] = "256K,1M,4M";
  char *sizes = all_sizes, *together = NULL;
  long bytes[MAX_LIST], repetitions = 8, turns = 1;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--sizes", &sizes, NULL, 0},
                                   {"--repetitions", NULL, &repetitions, 1},
                                   {"--turns", NULL, &turns, 1},
                                   {"--together", &together, NULL, 0}};
  parse_options(argc, argv, options, 4, usage);
  parse_turns(turns);
  if (repetitions > MOST_REPETITIONS) fail("--repetitions: at most %d", MOST_REPETITIONS);
  const int count = parse_numbers("--sizes", sizes, 4, bytes);
  for (int i = 0; i < count; ++i)
    if (bytes[i] % 4 != 0 || bytes[i] > LARGEST_SIZE)
      fail("--sizes: %ld is not a multiple of 4 up to %d", bytes[i], LARGEST_SIZE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  print_loaded();
  turns_join(together);
  for (int fresh = 0; fresh < 2; ++fresh)
    for (int i = 0; i < count; ++i) measure(fresh, (size_t)bytes[i], (int)repetitions, (int)turns);
  turns_leave();
  MPI_Finalize();
  return 0;
}
