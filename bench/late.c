// SPDX-License-Identifier: BSD-3-Clause
// MPI_Iallreduce with computation behind it, where one rank begins some of them late; to be run with a report, which is
// to tell lateness from communication. Rank 0 prints a JSON object:
//   {"late_ms": 50, "every": 20, "first": 10, "operations": 400, "bytes": 262144, "known_late_ns": 1234567.8}
// known_late_ns: mean over operations and ranks of the time from the beginning of a rank's wait until the last rank had
// begun, by the program's own clocks. So the ranks are to be on one machine.
#define _GNU_SOURCE
#include "arguments.h"
#include "loaded.h"

static const char usage[] =
    "usage: late [--late-ms N] [--every N] [--first N] [--operations N] [--bytes N] [--compute-us N]\n"
    "  --late-ms     by how much the last rank is late (50)\n"
    "  --every       at every so manieth operation (20)\n"
    "  --first       the first of these (10)\n"
    "  --operations  (400)\n"
    "  --bytes       of each (256K)\n"
    "  --compute-us  between start and wait (1000)\n";

enum { BEGAN, WAITED, ENDED, TIMES };

static void compute(double ns) {
  const double end = now_ns() + ns;
  while (now_ns() < end) {
  }
}

// Of all ranks' times, TIMES of each operation one after the other.
static double known_late(const double* times, int ranks, long operations) {
  double sum = 0;
  const double* const end = times + (size_t)ranks * (size_t)operations * TIMES;
  for (long i = 0; i < operations * TIMES; i += TIMES) {
    double last = 0;
    for (const double* of = times + i; of < end; of += operations * TIMES) last = of[BEGAN] > last ? of[BEGAN] : last;
    for (const double* of = times + i; of < end; of += operations * TIMES) {
      const double until = of[ENDED] < last ? of[ENDED] : last;
      sum += until > of[WAITED] ? until - of[WAITED] : 0;
    }
  }
  return sum / ((double)operations * ranks);
}

int main(int argc, char** argv) {
  long late_ms = 50, every = 20, first = 10, operations = 400, bytes = 256L << 10, compute_us = 1000;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--late-ms", NULL, &late_ms, 0},
                                   {"--every", NULL, &every, 1},
                                   {"--first", NULL, &first, 0},
                                   {"--operations", NULL, &operations, 1},
                                   {"--bytes", NULL, &bytes, sizeof(double)},
                                   {"--compute-us", NULL, &compute_us, 0}};
  parse_options(argc, argv, options, sizeof options / sizeof *options, usage);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  print_loaded();
  const int count = (int)(bytes / (long)sizeof(double)), times_count = (int)(operations * TIMES);
  double *const in = allocate((size_t)bytes), *const out = allocate((size_t)bytes);
  double* const times = allocate((size_t)times_count * sizeof(double));
  double* const all = allocate((size_t)times_count * (size_t)ranks * sizeof(double));
  for (int i = 0; i < count; ++i) in[i] = rank;
  const struct timespec lateness = {late_ms / 1000, late_ms % 1000 * 1000000};
  MPI_Barrier(MPI_COMM_WORLD);
  for (long i = 0; i < operations; ++i) {
    if (late_ms != 0 && rank == ranks - 1 && i % every == first % every) nanosleep(&lateness, NULL);
    MPI_Request request;
    double* const of = times + i * TIMES;
    of[BEGAN] = now_ns();
    MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    compute((double)compute_us * 1e3);
    of[WAITED] = now_ns();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    of[ENDED] = now_ns();
    if (out[count - 1] != ranks * (ranks - 1) / 2.0) fail("late: operation %ld gave a wrong result", i);
  }
  MPI_Gather(times, times_count, MPI_DOUBLE, all, times_count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf(
        "{\"late_ms\": %ld, \"every\": %ld, \"first\": %ld, \"operations\": %ld, \"bytes\": %ld, \"known_late_ns\": "
        "%.1f}\n",
        late_ms, every, first, operations, bytes, known_late(all, ranks, operations));
  }
  free(in);
  free(out);
  free(times);
  free(all);
  MPI_Finalize();
  return 0;
}
