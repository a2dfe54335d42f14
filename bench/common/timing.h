/* SPDX-License-Identifier: BSD-3-Clause */
// Clock and samples for the programs in bench/. Everything is static: each program is one translation unit or
// few, and none of them shares a library with Urakata.
#ifndef URAKATA_BENCH_TIMING_H
#define URAKATA_BENCH_TIMING_H

#include <stdlib.h>
#include <time.h>

#include "ending.h"

// Nanoseconds of the monotonic clock; about 20-25 ns a call where the kernel's vDSO serves it.
static inline double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int compare_doubles(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

// Sorts the samples in place; quantile() wants them sorted.
static inline void sort_samples(double* samples, int count) {
  qsort(samples, (size_t)count, sizeof *samples, compare_doubles);
}

// Quantile `fraction` (0.5 is the median) of sorted samples, interpolated.
static inline double quantile(const double* sorted, int count, double fraction) {
  const double place = fraction * (count - 1);
  const int below = (int)place;
  if (below + 1 >= count) return sorted[count - 1];
  return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

// Cost of one pair of clock readings with nothing between them: what every short interval contains besides its subject.
static inline double clock_cost_ns(void) {
  double samples[1001];
  for (int i = 0; i < 1001; ++i) {
    const double before = now_ns();
    samples[i] = now_ns() - before;
  }
  sort_samples(samples, 1001);
  return quantile(samples, 1001, 0.5);
}

// Computes (never sleeps) until `ns` nanoseconds have passed.
static inline void spin_ns(double ns) {
  const double end = now_ns() + ns;
  while (now_ns() < end) {
  }
}

static inline void* allocate(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 4096, bytes ? bytes : 1) != 0) fail("no memory for %zu bytes", bytes);
  return memory;
}

#endif
