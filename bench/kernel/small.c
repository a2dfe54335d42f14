// SPDX-License-Identifier: BSD-3-Clause
// Part `small`: reductions of a few numbers, one after the other, each waited for at once. See kernel.c.
#include <stdint.h>
#include <string.h>

#include "kernel.h"

// The numbers of a repetition, the same on all ranks: of each kind that is hard to add, and pairs that nearly cancel.
static uint64_t mix(uint64_t x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15U;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9U;
  return x ^ x >> 32;
}

static uint64_t bits_of(uint64_t repetition, int rank, int element, int fraction, int exponents) {
  const uint64_t pair = mix(repetition << 20 ^ (uint64_t)element);
  const uint64_t own = mix(pair + (uint64_t)rank);
  const uint64_t mask = ((uint64_t)1 << fraction) - 1, sign = (uint64_t)1 << (fraction + exponents);
  const uint64_t top = ((uint64_t)1 << exponents) - 1;
  switch (pair % 4) {
    case 0:  // subnormal, or just above
      return (own & (mask | sign)) | (own >> 60) % 2 << fraction;
    case 1:  // the same number but for its last bits, with the other sign at every second rank
      return ((pair & (mask - 7)) | (own & 7)) + ((top / 2 + pair % 3) << fraction) + (rank % 2 ? sign : 0);
    case 2:  // far apart
      return (own & (mask | sign)) | ((own >> 5) % (top - 1)) << fraction;
    default:  // near each other
      return (own & (mask | sign)) | (top / 2 + own % 4) << fraction;
  }
}

struct kind {
  const char* name;
  MPI_Datatype type;
  size_t size;
};

static void fill(const struct kind* kind, unsigned char* to, int count, uint64_t repetition, int rank) {
  const int single = kind->size == sizeof(float);
  for (int i = 0; i < count; ++i) {
    const uint64_t bits = bits_of(repetition, rank, i, single ? 23 : 52, single ? 8 : 11);
    const uint32_t narrow = (uint32_t)bits;
    memcpy(to + (size_t)i * kind->size, single ? (const void*)&narrow : (const void*)&bits, kind->size);
  }
}

// Elements that are not, bit for bit, what the processor has in the order of ranks.
static long differences(const struct kind* kind, const unsigned char* got, unsigned char* next, unsigned char* sum,
                        int count, uint64_t repetition, int ranks) {
  fill(kind, sum, count, repetition, 0);
  for (int rank = 1; rank < ranks; ++rank) {
    fill(kind, next, count, repetition, rank);
    for (int i = 0; i < count; ++i) {
      if (kind->size == sizeof(float)) {
        ((float*)sum)[i] += ((const float*)next)[i];
      } else {
        ((double*)sum)[i] += ((const double*)next)[i];
      }
    }
  }
  long wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += memcmp(got + (size_t)i * kind->size, sum + (size_t)i * kind->size, kind->size) != 0;
  return wrong;
}

static void measure(const struct kind* kind, size_t bytes, int repetitions) {
  enum { FEWEST = 50 };
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int count = (int)(bytes / kind->size);
  unsigned char *give = allocate(bytes), *take = allocate(bytes), *next = allocate(bytes), *sum = allocate(bytes);
  double* us = allocate((size_t)repetitions * sizeof *us);
  double* start = allocate((size_t)repetitions * sizeof *start);
  long wrong = 0;
  for (int i = -FEWEST; i < repetitions; ++i) {
    fill(kind, give, count, (uint64_t)(i + FEWEST), rank);
    memset(take, 0, bytes);
    MPI_Request request;
    const double begun = now_ns();
    MPI_Iallreduce(give, take, count, kind->type, MPI_SUM, MPI_COMM_WORLD, &request);
    const double started = now_ns();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (i >= 0) {
      us[i] = (now_ns() - begun) / 1e3;
      start[i] = started - begun;
    }
    wrong += differences(kind, take, next, sum, count, (uint64_t)(i + FEWEST), ranks);
  }
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &wrong, &wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    sort_samples(us, repetitions);
    sort_samples(start, repetitions);
    printf(
        "{\"part\": \"small\", \"operation\": \"iallreduce of %s\", \"bytes\": %zu, \"ranks\": %d, \"repetitions\": "
        "%d, "
        "\"us\": %.3f, \"low_us\": %.3f, \"high_us\": %.3f, \"start_ns\": %.1f, \"pairs\": %ld, \"wrong\": %ld}\n",
        kind->name, bytes, ranks, repetitions, quantile(us, repetitions, 0.5), quantile(us, repetitions, 0.25),
        quantile(us, repetitions, 0.75), quantile(start, repetitions, 0.5), (long)(repetitions + FEWEST) * count,
        wrong);
    fflush(stdout);
  }
  free(start);
  free(us);
  free(sum);
  free(next);
  free(take);
  free(give);
}

void measure_small(const struct settings* settings) {
  const struct kind kinds[] = {{"float", MPI_FLOAT, sizeof(float)}, {"double", MPI_DOUBLE, sizeof(double)}};
  for (int i = 0; i < settings->size_count; ++i)
    for (int k = 0; k < 2; ++k) measure(&kinds[k], (size_t)settings->sizes[i] / 8 * 8, settings->repetitions);
}
