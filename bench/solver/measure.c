// SPDX-License-Identifier: BSD-3-Clause
// Turns of all ways in turn, and whether what they bring is right.
#define _GNU_SOURCE

#include <math.h>
#include <string.h>

#include "run.h"
#include "turns.h"

const char* const measures[MEASURES] = {"exchange", "spmv", "cg", "pipelined"};
// Residuals may differ by rounding: an MPI adds in an order of its own choice, and another in each operation if it
// likes.
static const double same_residual = 1e-6;

// What a row's value is in the turn in which rank `rank` holds it.
static double sample(int id, int rank, int turn) { return (double)id * 4096.0 + rank + turn * 0.25; }

// A few exchanges of values that tell where they come from, and a product of ones.
static void check_way(struct run* run, int which) {
  const struct way* const way = run->way[which];
  struct exchange* const e = &run->exchange[which];
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
    const long* const begin = run->matrix.begin;
    for (int i = 0; i < p->rows; ++i) wrong += out[i] != 27.0 - (double)(begin[i + 1] - begin[i]);
    free(out);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (wrong) end_job("solver: %s brings %d wrong values", way->name, wrong);
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
    end_job("solver: %s ends after %d iterations with residual %.12g, the first way after %d with %.12g", way,
            found->iterations, found->residual, first->iterations, first->residual);
  }
  if (!(fabs(found->checked - found->residual) <= 1e-3 * found->residual + 1e-10)) {
    end_job("solver: %s ends with residual %.12g, but the solution's is %.12g", way, found->residual, found->checked);
  }
}

// One turn of a way; returns how many operations that was.
static int take_turn(struct run* run, int measure, int which, double* out, struct solution* found,
                     struct times* times) {
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
  double us[MOST_TURNS], exchange_us[MOST_TURNS], last_us[MOST_TURNS], step[STEPS][MOST_TURNS];
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
  printf("{\"measure\": \"%s\", \"way\": \"%s\", \"us\": %.3f, \"exchange_us\": %.3f, \"last_us\": %.3f, \"steps\": {",
         measures[measure], run->way[which]->name, median_of(s->us, turns), median_of(s->exchange_us, turns),
         median_of(s->last_us, turns));
  for (int step = 0; step < STEPS; ++step) {
    printf("%s\"%s\": %.3f", step == 0 ? "" : ", ", step_names[step], median_of(s->step[step], turns));
  }
  printf("}");
  if (measure >= CG) printf(", \"iterations\": %d, \"residual\": %.12g", found->iterations, found->residual);
  print_turns((const struct turn_values[]){{"us", s->us}, {"exchange_us", s->exchange_us}}, 2, turns);
}

// The median over a turn's exchanges of what `op` makes of the ranks' times. Collective.
static double median_exchange(const struct times* times, MPI_Op op) {
  const int count = times->products;
  double* const all = allocate((size_t)count * sizeof *all);
  MPI_Allreduce(times->exchange, all, count, MPI_DOUBLE, op, MPI_COMM_WORLD);
  sort_samples(all, count);
  const double median = count ? quantile(all, count, 0.5) : 0;
  free(all);
  return median;
}

// Adds a turn of `count` operations to a series. Collective.
static void take_times(struct series* s, int turn, double count, struct times* times) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(MPI_IN_PLACE, times->step, STEPS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &times->all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  s->us[turn] = times->all / count / 1e3;
  s->exchange_us[turn] = median_exchange(times, MPI_SUM) / ranks / 1e3;
  s->last_us[turn] = median_exchange(times, MPI_MIN) / 1e3;
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

void check_ways(struct run* run) {
  for (int way = 0; way < run->ways; ++way) check_way(run, way);
}

void measure_all(struct run* run, const bool wanted[MEASURES], const char* together) {
  turns_join(together);
  for (int what = 0; what < MEASURES; ++what) {
    if (wanted[what]) measure(run, what);
  }
  turns_leave();
}
