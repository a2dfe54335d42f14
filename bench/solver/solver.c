// SPDX-License-Identifier: BSD-3-Clause
// What the neighbour exchange of a solver costs, by each of the ways that MPI has: sparse matrix times vector, and
// conjugate gradients, on the 27-point problem of HPCG (solver.h), in parts by blocks of rows or by METIS.
//
// Each rank has a part. Rank 0 prints JSON objects: what is loaded, {"measure": "partition", ...} with the exact counts
// of one exchange of all parts, {"measure": "skip", ...} for each way that the MPI library does not have, and for each
// measure and way
//   {"measure": "cg", "way": "messages", "us": 812.1, "exchange_us": 31.2, "last_us": 29.5, "steps": {"start": 11.0,
//    "inner": 610.5, "wait": 20.2, "boundary": 50.1, "reduce": 12.5, "vectors": 90.0}, "iterations": 21,
//    "residual": 3.1e-09, "turns": ...}
// Times are microseconds of one exchange, one product or one iteration: `us` the longest of a rank, steps means over
// the ranks. exchange_us is what a rank spends in the exchange, start + wait: the mean over the ranks, and of that the
// median over a turn's exchanges. last_us is the same of the rank with the least, which comes last and waits for
// nobody. The ways take turns; each figure is the median of the turns.
//
// A way that brings wrong values, or with which a solver takes other iterations or ends with another residual than with
// the first way, ends the job with code 2.
#define _GNU_SOURCE

#include <stdbool.h>

#include "arguments.h"
#include "loaded.h"
#include "run.h"
#include "turns.h"

static const char usage[] =
    "usage: solver [--n N] [--partition rows|metis] [--measure LIST] [--ways LIST] [--iterations N] [--tolerance X]\n"
    "              [--operations N] [--turns N] [--together I/N:FILE] [--play P] [--count LIST]\n"
    "  --n           edge of the grid (32)\n"
    "  --partition   rows: blocks of rows, or metis (rows)\n"
    "  --measure     exchange, spmv, cg, pipelined (all)\n"
    "  --ways        messages, persistent, neighbour, put-fence, put-pscw, put-flush, put-notify, sockets (all)\n"
    "  --iterations  most of a solver (500)\n"
    "  --tolerance   at which a solver ends (1e-8)\n"
    "  --operations  exchanges or products for each turn (20)\n"
    "  --turns       turns for each measure (5)\n" TOGETHER_USAGE
    "\n"
    "  --play        2, 4, 8 ... ranks all play one typical part of a partition into so many parts: exchange only\n"
    "  --count       only count messages and bytes of partitions into so many parts";

static struct exchange make_exchange(const struct pattern* p) {
  struct exchange e = {.pattern = p};
  const size_t requests = 2 * (size_t)p->neighbours + 1;
  e.packed = allocate((size_t)p->send_at[p->neighbours] * sizeof(double));
  e.requests = allocate(requests * sizeof *e.requests);
  for (size_t i = 0; i < requests; ++i) e.requests[i] = MPI_REQUEST_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &e.comm);
  return e;
}

static void free_exchange(struct exchange* e) {
  MPI_Comm_free(&e->comm);
  free(e->requests);
  free(e->packed);
}

static void prepare_ways(struct run* run, const char* option, char* list) {
  char* wanted[MAX_LIST];
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = split_list(option, list, wanted);
  for (int i = 0; i < count; ++i) {
    int known = 0;
    while (known < way_count && strcmp(ways[known].name, wanted[i]) != 0) ++known;
    if (known == way_count || run->ways == MOST_WAYS) fail("%s: there is no way '%s'\n%s", option, wanted[i], usage);
    struct exchange* const e = &run->exchange[run->ways];
    *e = make_exchange(&run->pattern);
    const char* const reason = ways[known].prepare(e);
    if (!reason) {
      run->way[run->ways++] = &ways[known];
      continue;
    }
    if (rank == 0) printf("{\"measure\": \"skip\", \"way\": \"%s\", \"reason\": \"%s\"}\n", wanted[i], reason);
    free_exchange(e);
  }
}

static struct partition_counts print_partition(const char* name, int n, int parts, const int* part_of) {
  const struct partition_counts c = count_partition(part_of, n, parts);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // Of two buffers in turn each message takes one mark; of one buffer another, by which its owner says that it is free.
  if (rank == 0) {
    printf(
        "{\"measure\": \"partition\", \"partition\": \"%s\", \"n\": %d, \"parts\": %d, \"ranks\": %d, \"space\": %s, "
        "\"least_rows\": %d, \"most_rows\": %d, \"messages\": %ld, \"most_neighbours\": %d, \"bytes\": %ld, "
        "\"marks_two_buffers\": %ld, \"marks_one_buffer\": %ld}\n",
        name, n, parts, ranks, in_space() ? "true" : "false", c.least_rows, c.most_rows, c.messages, c.most_neighbours,
        c.values * (long)sizeof(double), c.messages, 2 * c.messages);
    fflush(stdout);
  }
  return c;
}

static void count_only(const char* partition, int n, char* list) {
  long parts[MAX_LIST];
  const int count = parse_numbers("--count", list, 1, parts);
  for (int i = 0; i < count; ++i) {
    if (parts[i] > (long)n * n * n) fail("--count: %ld parts are more than there are rows", parts[i]);
    int* const part_of = make_partition(partition, n, (int)parts[i]);
    print_partition(partition, n, (int)parts[i], part_of);
    free(part_of);
  }
}

static void make_problem(struct run* run, const char* partition, int play) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int parts = play ? play : ranks;
  if (parts > run->n * run->n * run->n) fail("--n: %d parts are more than there are rows", parts);
  int* const part_of = make_partition(partition, run->n, parts);
  const struct partition_counts counts = print_partition(partition, run->n, parts, part_of);
  run->pattern = make_pattern(part_of, run->n, play ? counts.typical : rank);
  if (play) {
    play_pattern(&run->pattern);
  } else {
    run->matrix = make_matrix(&run->pattern, run->n);
  }
  free(part_of);
}

int main(int argc, char** argv) {
  static char all_ways[] = "messages,persistent,neighbour,put-fence,put-pscw,put-flush,put-notify,sockets";
  static char all_measures[] = "exchange,spmv,cg,pipelined", by_rows[] = "rows", small[] = "1e-8";
  char *wanted = all_ways, *what = all_measures, *partition = by_rows, *tolerance = small;
  char *together = NULL, *count = NULL, *asked[MAX_LIST];
  long n = 32, iterations = 500, operations = 20, turns = 5, play = 0;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--n", NULL, &n, 1},
                                   {"--partition", &partition, NULL, 0},
                                   {"--measure", &what, NULL, 0},
                                   {"--ways", &wanted, NULL, 0},
                                   {"--iterations", NULL, &iterations, 1},
                                   {"--tolerance", &tolerance, NULL, 0},
                                   {"--operations", NULL, &operations, 1},
                                   {"--turns", NULL, &turns, 1},
                                   {"--together", &together, NULL, 0},
                                   {"--play", NULL, &play, 1},
                                   {"--count", &count, NULL, 0}};
  parse_options(argc, argv, options, sizeof options / sizeof *options, usage);
  if (n > 1000) fail("--n: at most 1000");
  static struct run run;
  char* end = NULL;
  run.tolerance = strtod(tolerance, &end);
  if (end == tolerance || *end || !(run.tolerance >= 0)) fail("--tolerance: '%s' is no number from 0 on", tolerance);
  run.n = (int)n, run.operations = (int)operations, run.turns = parse_turns(turns), run.iterations = (int)iterations;
  bool measured[MEASURES] = {false};
  const int asked_count = split_list("--measure", what, asked);
  for (int i = 0; i < asked_count; ++i) {
    int known = 0;
    while (known < MEASURES && strcmp(measures[known], asked[i]) != 0) ++known;
    if (known == MEASURES) fail("--measure: there is no '%s'\n%s", asked[i], usage);
    if (play && known != EXCHANGE) fail("--play: only the exchange can be measured, not '%s'", asked[i]);
    measured[known] = true;
  }
  print_loaded();
  if (count) {
    count_only(partition, run.n, count);
    MPI_Finalize();
    return 0;
  }
  make_problem(&run, partition, (int)play);
  prepare_ways(&run, "--ways", wanted);
  check_ways(&run);
  measure_all(&run, measured, together);
  for (int way = 0; way < run.ways; ++way) {
    run.way[way]->discard(&run.exchange[way]);
    free_exchange(&run.exchange[way]);
  }
  if (!play) free_matrix(&run.matrix);
  free_pattern(&run.pattern);
  MPI_Finalize();
  return 0;
}
