/* SPDX-License-Identifier: BSD-3-Clause */
/* How many turns, and how much work: the same on all ranks. */
#ifndef URAKATA_BENCH_OVERLAP_AMOUNTS_H
#define URAKATA_BENCH_OVERLAP_AMOUNTS_H

#include "loops.h"
#include "settings.h"

enum { WARM_UPS = 3 };

/* Median of a loop's first times over its turns, agreed on by all. */
static double agreed_median(struct samples* s) {
  samples_join(s);
  double middle = rank == 0 ? median(s->time, s->turns) : 0.0;
  MPI_Bcast(&middle, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  free(s->time);
  return middle;
}

static int turns_within(const struct settings* s, double turn_us) {
  const double fit = s->budget_us / (turn_us > 0.1 ? turn_us : 0.1);
  return fit < s->least ? s->least : fit > s->turns ? s->turns : (int)fit;
}

/* The last loop may be left out. */
enum { LOOPS = 4 };
static int loops_of(const struct settings* s) { return s->tested != 0 ? LOOPS : LOOPS - 1; }

/* The turns of a loop are dealt out to the rounds: how many of them are taken before this round. */
static int turns_before(const struct samples* s, int round, int rounds) { return s->turns * round / rounds; }
static int turns_of(const struct samples* s, int round, int rounds) {
  return turns_before(s, round + 1, rounds) - turns_before(s, round, rounds);
}

static double quick_pure_us(const struct operation* op, const struct call* c, int turns) {
  struct samples s = pure_open(turns);
  pure_loop(&s, op, c, turns);
  return agreed_median(&s);
}

static double quick_compute_us(struct work* work, uint64_t amount, int turns) {
  struct samples s = compute_open(turns);
  compute_loop(&s, work, amount, turns);
  return agreed_median(&s);
}

/* One turn says enough where it is long beside the budget. */
static double warm_pure_us(const struct settings* s, const struct operation* op, const struct call* c) {
  const double first_us = quick_pure_us(op, c, 1);
  return WARM_UPS * first_us > s->budget_us ? first_us : quick_pure_us(op, c, WARM_UPS);
}

static double warm_compute_us(const struct settings* s, struct work* work, uint64_t amount) {
  const double first_us = quick_compute_us(work, amount, 1);
  return WARM_UPS * first_us > s->budget_us ? first_us : quick_compute_us(work, amount, WARM_UPS);
}

/* The shortest turn of the fastest rank: what the computation takes where nobody disturbs it. */
static double undisturbed_us(struct work* work, uint64_t amount) {
  double shortest = 1e30;
  for (int turn = 0; turn < WARM_UPS; ++turn) {
    const double start = now_us();
    work_do(work, amount);
    const double took = now_us() - start;
    if (took < shortest) shortest = took;
  }
  MPI_Allreduce(MPI_IN_PLACE, &shortest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  return shortest;
}

/* The amount that takes `goal` microseconds: found by trying, since neither caches nor threads make it proportional. */
static uint64_t matched_amount(struct work* work, double goal) {
  double amount = 1000.0;
  for (int round = 0; round < 12; ++round) {
    const double took = undisturbed_us(work, (uint64_t)amount);
    if (took > 0.95 * goal && took < 1.05 * goal) break;
    double factor = goal / (took > 0.05 ? took : 0.05);
    if (factor > 20.0) factor = 20.0;
    amount *= factor;
    if (amount < 1.0) return 1;
  }
  return (uint64_t)amount;
}

static uint64_t work_amount(const struct settings* s, struct work* work, int size_index, double pure_us) {
  if (s->amount == WORK_GIVEN) return s->given[s->given_count == 1 ? 0 : size_index];
  if (s->amount == WORK_MATCH) return matched_amount(work, s->scale * pure_us);
  return paper_elements(s->sizes[size_index], s->cores, s->per_node, s->scale);
}

/* The length of the arrays for a message size. */
static size_t array_elements(const struct settings* s, size_t bytes) {
  return s->kind == KIND_MEMORY
             ? memory_elements(s->per_node)
             : (size_t)paper_elements(bytes, s->cores, s->per_node, s->amount == WORK_PAPER ? s->scale : 1.0);
}

#endif
