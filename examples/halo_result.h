// What the two halo examples share: their options, their memory, and the line that they print.
#ifndef URAKATA_EXAMPLES_HALO_RESULT_H
#define URAKATA_EXAMPLES_HALO_RESULT_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char* name;
  int* value;
  int least;
} Option;

// Reads `--name number` pairs, and --json, whose presence it returns. Ends the job where an option is wrong.
static int read_options(int argc, char** argv, const Option* options, size_t count, const char* meaning) {
  int json = 0, wrong = 0, rank;
  for (int i = 1; i < argc; ++i) {
    size_t o = 0;
    if (strcmp(argv[i], "--json") == 0) {
      json = 1;
      continue;
    }
    while (o < count && strcmp(argv[i], options[o].name) != 0) ++o;
    const long value = o < count && i + 1 < argc ? strtol(argv[++i], NULL, 10) : 0;
    if (o == count || value < options[o].least || value > 1 << 28)
      wrong = 1;
    else
      *options[o].value = (int)value;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (wrong && rank == 0) {
    fprintf(stderr, "usage: %s", argv[0]);
    for (size_t o = 0; o < count; ++o) fprintf(stderr, " [%s N]", options[o].name);
    fprintf(stderr, " [--json]\n  %s\n", meaning);
  }
  if (wrong) {
    MPI_Finalize();
    exit(2);
  }
  return json;
}

// `count` zeros.
static double* cells_of(size_t count) {
  double* const cells = calloc(count, sizeof(double));
  if (cells == NULL) {
    fprintf(stderr, "no memory for %zu cells\n", count);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return cells;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Rank 0 prints the median time of its iterations and of the exchange in them, all of them together, and the sum of the
// ranks' sums, which are added in the order of ranks, so that the last digit is always the same. Sorts the times, which
// are seconds.
static void print_result(const char* what, double* times, double* exchanges, int iterations, double sum, int json) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double total = 0, checksum = 0;
  for (int i = 0; i < iterations; ++i) total += times[i];
  qsort(times, (size_t)iterations, sizeof *times, ascending);
  qsort(exchanges, (size_t)iterations, sizeof *exchanges, ascending);
  double* const sums = cells_of((size_t)ranks);
  MPI_Gather(&sum, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) checksum += sums[r];
  const double us = 1e6 * times[iterations / 2], exchange_us = 1e6 * exchanges[iterations / 2];
  if (rank == 0 && json)
    printf(
        "{\"ranks\": %d, \"iterations\": %d, \"us\": %.3f, \"exchange_us\": %.3f, \"seconds\": %.6f, "
        "\"checksum\": %.15g}\n",
        ranks, iterations, us, exchange_us, total, checksum);
  else if (rank == 0)
    printf("%s, %d ranks: %d iterations in %.3f s, %.1f us each (median), %.1f of them exchange, checksum %.15g\n",
           what, ranks, iterations, total, us, exchange_us, checksum);
  free(sums);
}

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
