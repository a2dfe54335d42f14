// What the neighbour exchange of a solver costs, by each of the ways that MPI has: sparse matrix times vector, and
// conjugate gradients, on the 27-point problem of HPCG (solver.h), in parts by blocks of rows or by METIS.
//
// Each rank has a part. Rank 0 prints JSON objects: what is loaded, {"measure": "partition", ...} with the exact counts of
// one exchange of all parts, {"measure": "skip", ...} for each way that the host does not have, and for each measure and way
//   {"measure": "cg", "way": "messages", "us": 812.1, "exchange_us": 31.2, "steps": {"start": 11.0, "inner": 610.5,
//    "wait": 20.2, "boundary": 50.1, "reduce": 12.5, "vectors": 90.0}, "iterations": 21, "residual": 3.1e-09, "turns": ...}
// Times are microseconds of one exchange, one product or one iteration: `us` the longest of a rank, steps means over the
// ranks, so that waiting for a rank that comes late is in them. exchange_us is not: of each exchange it takes start + wait
// of the rank with the least, which comes last and waits for nobody, and then the median over a turn's exchanges. The ways
// take turns; each figure is the median of the turns.
//
// A way that brings wrong values, or with which a solver takes other iterations or ends with another residual than with
// the first way, ends the job with code 2.
#define _GNU_SOURCE

#include <math.h>
#include <stdbool.h>

#include "arguments.h"
#include "loaded.h"
#include "solver.h"
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
    "  --play        all ranks play one typical part of a partition into so many parts: exchange only, 2, 4, 8 ... ranks\n"
    "  --count       only count messages and bytes of partitions into so many parts";

enum { MOST_WAYS = 16, EXCHANGE = 0, SPMV, CG, PIPELINED, MEASURES };
static const char* const measures[MEASURES] = {"exchange", "spmv", "cg", "pipelined"};
// Residuals may differ by rounding: an MPI adds in an order of its own choice, and another in each operation if it likes.
static const double same_residual = 1e-6;

struct run {
  int n, operations, turns, iterations;
  double tolerance;
  struct pattern pattern;
  struct matrix matrix;  // not there when a part is played
  const struct way* way[MOST_WAYS];
  struct exchange exchange[MOST_WAYS];
  int ways;
};

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

// What a row's value is in the turn in which rank `rank` holds it.
static double sample(int id, int rank, int turn) { return (double)id * 4096.0 + rank + turn * 0.25; }

// A few exchanges of values that tell where they come from, and a product of ones.
static void check_way(const struct run* run, const struct way* way, struct exchange* e) {
  const struct pattern* const p = e->pattern;
  int rank = 0, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int turn = 0; turn < 5; ++turn) {
    for (int i = 0; i < p->rows; ++i) e->vector[i] = sample(p->row_id[i], rank, turn);
    start_exchange(way, e);
    way->finish(e);
    for (int i = 0; i < p->neighbours; ++i) {
      for (int g = p->recv_at[i]; g < p->recv_at[i + 1]; ++g) {
        wrong += e->vector[p->rows + g] != sample(p->ghost_id[g], p->rank[i], turn);
      }
    }
  }
  if (run->matrix.rows) {
    struct times unused = {.all = 0};
    double* const out = allocate((size_t)p->rows * sizeof *out);
    for (int i = 0; i < p->rows; ++i) e->vector[i] = 1.0;
    multiply(&run->matrix, way, e, out, &unused);
    for (int i = 0; i < p->rows; ++i) wrong += out[i] != 27.0 - (double)(run->matrix.begin[i + 1] - run->matrix.begin[i]);
    free(out);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (wrong) fail("solver: %s brings %d wrong values", way->name, wrong);
}

// Writes what is sent and reads what came, as a solver does: data that nobody touches stay in caches.
static double touch(struct exchange* e) {
  const struct pattern* const p = e->pattern;
  double sum = 0;
  for (int i = 0; i < p->ghosts; ++i) sum += e->vector[p->rows + i];
  for (int i = 0; i < p->send_at[p->neighbours]; ++i) e->vector[p->send_row[i]] += 1.0;
  return sum;
}

static void exchange_alone(struct run* run, int which, struct times* times) {
  const struct way* const way = run->way[which];
  struct exchange* const e = &run->exchange[which];
  volatile double kept = 0;
  for (int i = 0; i < run->operations; ++i) {
    kept = kept + touch(e);
    const double begin = now_ns();
    start_exchange(way, e);
    const double started = now_ns();
    way->finish(e);
    const double waited = now_ns();
    times->step[START] += started - begin;
    times->step[WAIT] += waited - started;
    times->exchange[times->products++] = waited - begin;
  }
  times->all = times->step[START] + times->step[WAIT];
}

static void products(struct run* run, int which, double* out, struct times* times) {
  const double begin = now_ns();
  for (int i = 0; i < run->operations; ++i) {
    multiply(&run->matrix, run->way[which], &run->exchange[which], out, times);
  }
  times->all = now_ns() - begin;
}

static void check_solution(const char* way, const struct solution* found, const struct solution* first) {
  if (found->iterations != first->iterations ||
      !(fabs(found->residual - first->residual) <= same_residual * first->residual)) {
    fail("solver: %s ends after %d iterations with residual %.12g, the first way after %d with %.12g", way,
         found->iterations, found->residual, first->iterations, first->residual);
  }
  if (!(fabs(found->checked - found->residual) <= 1e-3 * found->residual + 1e-10)) {
    fail("solver: %s ends with residual %.12g, but the solution's is %.12g", way, found->residual, found->checked);
  }
}

// One turn of a way; returns how many operations that was.
static int take_turn(struct run* run, int measure, int which, double* out, struct solution* found, struct times* times) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (measure == EXCHANGE) {
    exchange_alone(run, which, times);
    return run->operations;
  }
  if (measure == SPMV) {
    products(run, which, out, times);
    return run->operations;
  }
  *found = (measure == CG ? solve_plain : solve_pipelined)(&run->matrix, run->way[which], &run->exchange[which],
                                                           run->iterations, run->tolerance, times);
  return found->iterations ? found->iterations : 1;
}

struct series {
  double us[MOST_TURNS], exchange_us[MOST_TURNS], step[STEPS][MOST_TURNS];
};

static double median_of(const double* values, int count) {
  double sorted[MOST_TURNS];
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  sort_samples(sorted, count);
  return quantile(sorted, count, 0.5);
}

static void print_series(const struct run* run, int measure, int which, const struct series* s,
                         const struct solution* found) {
  const int turns = run->turns;
  printf("{\"measure\": \"%s\", \"way\": \"%s\", \"us\": %.3f, \"exchange_us\": %.3f, \"steps\": {", measures[measure],
         run->way[which]->name, median_of(s->us, turns), median_of(s->exchange_us, turns));
  for (int step = 0; step < STEPS; ++step) {
    printf("%s\"%s\": %.3f", step == 0 ? "" : ", ", step_names[step], median_of(s->step[step], turns));
  }
  printf("}");
  if (measure >= CG) printf(", \"iterations\": %d, \"residual\": %.12g", found->iterations, found->residual);
  print_turns((const struct turn_values[]){{"us", s->us}, {"exchange_us", s->exchange_us}}, 2, turns);
}

// Adds a turn of `count` operations to a series. Collective.
static void take_times(struct series* s, int turn, double count, struct times* times) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(MPI_IN_PLACE, times->step, STEPS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &times->all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, times->exchange, times->products, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  sort_samples(times->exchange, times->products);
  s->us[turn] = times->all / count / 1e3;
  s->exchange_us[turn] = times->products ? quantile(times->exchange, times->products, 0.5) / 1e3 : 0;
  for (int step = 0; step < STEPS; ++step) s->step[step][turn] = times->step[step] / count / ranks / 1e3;
}

static void measure(struct run* run, int which_measure) {
  static struct series series[MOST_WAYS];
  struct solution found = {0}, first = {0};
  double* const out = allocate((size_t)run->pattern.rows * sizeof *out);
  double* const each = allocate(((size_t)run->operations + (size_t)run->iterations + 1) * sizeof *each);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int turn = 0; turn < run->turns; ++turn) {
    turns_next();
    for (int way = 0; way < run->ways; ++way) {
      struct times times = {.exchange = each};
      const double count = take_turn(run, which_measure, way, out, &found, &times);
      if (which_measure >= CG) {
        if (turn == 0 && way == 0) first = found;
        check_solution(run->way[way]->name, &found, &first);
      }
      take_times(&series[way], turn, count, &times);
    }
  }
  for (int way = 0; way < run->ways && rank == 0; ++way) print_series(run, which_measure, way, &series[way], &first);
  free(each);
  free(out);
}

static struct partition_counts print_partition(const char* name, int n, int parts, const int* part_of) {
  const struct partition_counts c = count_partition(part_of, n, parts);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // Of two buffers in turn each message takes one mark; of one buffer another, by which its owner says that it is free.
  if (rank == 0) {
    printf("{\"measure\": \"partition\", \"partition\": \"%s\", \"n\": %d, \"parts\": %d, \"ranks\": %d, \"space\": %s, "
           "\"least_rows\": %d, \"most_rows\": %d, \"messages\": %ld, \"most_neighbours\": %d, \"bytes\": %ld, "
           "\"marks_two_buffers\": %ld, \"marks_one_buffer\": %ld}\n",
           name, n, parts, ranks, in_space() ? "true" : "false", c.least_rows, c.most_rows, c.messages,
           c.most_neighbours, c.values * (long)sizeof(double), c.messages, 2 * c.messages);
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
  const int asked_count = split_list("--measure", what, asked);
  for (int i = 0; i < asked_count; ++i) {
    int known = 0;
    while (known < MEASURES && strcmp(measures[known], asked[i]) != 0) ++known;
    if (known == MEASURES) fail("--measure: there is no '%s'\n%s", asked[i], usage);
    if (play && known != EXCHANGE) fail("--play: only the exchange can be measured, not '%s'", asked[i]);
  }
  print_loaded();
  if (count) {
    count_only(partition, run.n, count);
    MPI_Finalize();
    return 0;
  }
  make_problem(&run, partition, (int)play);
  prepare_ways(&run, "--ways", wanted);
  for (int way = 0; way < run.ways; ++way) check_way(&run, run.way[way], &run.exchange[way]);
  turns_join(together);
  for (int known = 0; known < MEASURES; ++known) {
    for (int i = 0; i < asked_count; ++i) {
      if (strcmp(measures[known], asked[i]) == 0) measure(&run, known);
    }
  }
  turns_leave();
  for (int way = 0; way < run.ways; ++way) {
    run.way[way]->discard(&run.exchange[way]);
    free_exchange(&run.exchange[way]);
  }
  if (!play) free_matrix(&run.matrix);
  free_pattern(&run.pattern);
  MPI_Finalize();
  return 0;
}
