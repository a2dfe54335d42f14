/* SPDX-License-Identifier: BSD-3-Clause */
// What bench/solver measures, and with what.
#ifndef URAKATA_BENCH_SOLVER_RUN_H
#define URAKATA_BENCH_SOLVER_RUN_H

#include "solver.h"

enum { MOST_WAYS = 16 };
enum measure { EXCHANGE, SPMV, CG, PIPELINED, MEASURES };
extern const char* const measures[MEASURES];

struct run {
  int n, operations, turns, iterations;
  double tolerance;
  struct pattern pattern;
  struct matrix matrix;  // not there when a part is played
  const struct way* way[MOST_WAYS];
  struct exchange exchange[MOST_WAYS];
  int ways;
};

// Exchanges values that tell where they come from, and multiplies with ones. The job ends where one is wrong.
// Collective.
void check_ways(struct run* run);

// Measures what is wanted of `measures`, and prints it. `together`: how it takes turns with other jobs (turns.h), or
// NULL. The job ends where a solver ends otherwise than with the first way. Collective.
void measure_all(struct run* run, const bool wanted[MEASURES], const char* together);

#endif
