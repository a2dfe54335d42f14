/* SPDX-License-Identifier: BSD-3-Clause */
// A small generator of random numbers: the same on every machine, any number of them side by side.
#ifndef URAKATA_TESTS_RANDOM_H
#define URAKATA_TESTS_RANDOM_H

#include <stdint.h>

typedef struct {
  uint64_t state;
} Random;

static inline uint64_t random_next(Random* r) {  // splitmix64
  uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline Random random_of(uint64_t seed, uint64_t batch, uint64_t stream) {
  Random r = {seed};
  r.state = random_next(&r) ^ batch;
  r.state = random_next(&r) ^ stream;
  r.state = random_next(&r);
  return r;
}

// 0 .. n - 1
static inline int below(Random* r, int n) { return n <= 1 ? 0 : (int)(random_next(r) % (uint64_t)n); }
static inline int between(Random* r, int low, int high) { return low + below(r, high - low + 1); }
static inline int one_in(Random* r, int n) { return below(r, n) == 0; }

static inline void shuffle(Random* r, int* items, int n) {
  for (int i = n - 1; i > 0; --i) {
    const int j = below(r, i + 1);
    const int keep = items[i];
    items[i] = items[j];
    items[j] = keep;
  }
}

#endif
