/* SPDX-License-Identifier: BSD-3-Clause */
/* The computation of the overlap benchmark: a fixed amount, counted in elements, divided among the OpenMP threads.

   paper    x[i] = x[i] + a[i]*a[i] + y[i], once over arrays as long as the amount that the study prescribes
   compute  the same formula, again and again over arrays that stay in the first-level cache
   memory   the STREAM triad x[i] = y[i] + s*a[i], over arrays larger than the last-level cache

   Each thread owns a slice of the arrays, which it touches first, and goes on where it stopped. So data that is meant
   to come from memory does so in every turn. */
#ifndef URAKATA_BENCH_OVERLAP_WORK_H
#define URAKATA_BENCH_OVERLAP_WORK_H

#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { KIND_PAPER, KIND_COMPUTE, KIND_MEMORY, KIND_COUNT };
static const char* const kind_names[KIND_COUNT] = {"paper", "compute", "memory"};

enum { COMPUTE_ELEMENTS = 512 }; /* of each of the three arrays of a thread: 12 KiB */

struct slice {
  double *x, *a, *y;
  size_t length;   /* elements of each array */
  size_t position; /* where the next turn goes on */
  char apart[64];  /* threads write their positions: keep these off one another's cache lines */
};

struct work {
  enum kind kind;
  int threads;
  size_t elements; /* of each array, all threads together */
  struct slice* slices;
};

/* The study's amount: N = n_cpu * 100000 / p_node below 8192 bytes, n_cpu * 5000000 / p_node from there on. */
static uint64_t paper_elements(size_t bytes, int cores, int per_node, double scale) {
  const double base = bytes < 8192 ? 1e5 : 5e6;
  const double elements = scale * base * cores / per_node;
  return elements < 1.0 ? 1 : (uint64_t)elements;
}

/* The C library's figure comes second: under some hypervisors it is the size of the whole package's cache. */
static size_t last_level_cache(void) {
  unsigned long kib = 0;
  FILE* file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
  if (file) {
    if (fscanf(file, "%luK", &kib) != 1) kib = 0;
    fclose(file);
  }
  if (kib) return (size_t)kib << 10;
  long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (size <= 0) size = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return size > 0 ? (size_t)size : (size_t)32 << 20;
}

/* The three arrays of all ranks of a node take four times the last-level cache. */
static size_t memory_elements(int per_node) { return 4 * last_level_cache() / (3 * sizeof(double) * (size_t)per_node); }

/* `elements` is the length of the arrays; for `compute` it is not used. Returns 0 where there is no memory. */
static int work_open(struct work* work, enum kind kind, int threads, size_t elements) {
  work->kind = kind;
  work->threads = threads;
  work->elements = kind == KIND_COMPUTE ? (size_t)COMPUTE_ELEMENTS * (size_t)threads : elements;
  if (work->elements < (size_t)threads) work->elements = (size_t)threads;
  work->slices = calloc((size_t)threads, sizeof *work->slices);
  if (!work->slices) return 0;
  int whole = 1;
#pragma omp parallel num_threads(threads) reduction(&& : whole)
  {
    const size_t me = (size_t)omp_get_thread_num();
    struct slice* slice = &work->slices[me];
    slice->length = work->elements / (size_t)threads + (me < work->elements % (size_t)threads);
    void* block = NULL;
    whole = posix_memalign(&block, 4096, 3 * slice->length * sizeof(double)) == 0;
    if (whole) {
      slice->x = block;
      slice->a = slice->x + slice->length;
      slice->y = slice->a + slice->length;
      for (size_t i = 0; i < slice->length; ++i) slice->x[i] = 0.0, slice->a[i] = 1e-3, slice->y[i] = 1e-6;
    }
  }
  return whole;
}

static void work_close(struct work* work) {
  for (int i = 0; work->slices && i < work->threads; ++i) free(work->slices[i].x);
  free(work->slices);
  work->slices = NULL;
}

__attribute__((noinline)) static void square_add(double* restrict x, const double* restrict a, const double* restrict y,
                                                 size_t length) {
#pragma omp simd
  for (size_t i = 0; i < length; ++i) x[i] = x[i] + a[i] * a[i] + y[i];
}

__attribute__((noinline)) static void triad(double* restrict x, const double* restrict a, const double* restrict y,
                                            size_t length) {
#pragma omp simd
  for (size_t i = 0; i < length; ++i) x[i] = y[i] + 3.0 * a[i];
}

/* Updates `amount` elements, all threads together; each its share. */
static void work_do(struct work* work, uint64_t amount) {
#pragma omp parallel num_threads(work->threads)
  {
    const uint64_t me = (uint64_t)omp_get_thread_num();
    const uint64_t threads = (uint64_t)work->threads;
    struct slice* slice = &work->slices[me];
    uint64_t left = amount / threads + (me < amount % threads);
    while (left > 0) {
      size_t length = slice->length - slice->position;
      if (length > left) length = (size_t)left;
      double* x = slice->x + slice->position;
      const double* a = slice->a + slice->position;
      const double* y = slice->y + slice->position;
      if (work->kind == KIND_MEMORY) {
        triad(x, a, y, length);
      } else {
        square_add(x, a, y, length);
      }
      slice->position = slice->position + length == slice->length ? 0 : slice->position + length;
      left -= length;
    }
  }
}

/* Reads something of every slice, so that no compiler may leave the computation out. */
static double work_sum(const struct work* work) {
  double sum = 0.0;
  for (int i = 0; i < work->threads; ++i) sum += work->slices[i].x[work->slices[i].length / 2];
  return sum;
}

#endif
