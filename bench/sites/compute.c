// SPDX-License-Identifier: BSD-3-Clause
#include "compute.h"

#include "timing.h"

static long amount_;  // of steps
static volatile double result_;

// Each step needs the one before it, so no compiler makes less of them.
static double work(long steps) {
  const double begin = now_ns();
  double value = result_;
  for (long i = 0; i < steps; ++i) value = value * 0.999999 + 1e-6;
  result_ = value;
  return now_ns() - begin;
}

struct leader find_leader(const char* text, int rank, int ranks) {
  struct leader found = {.rank = -1};
  if (text == NULL) return found;
  double ms = 0;
  char rest = 0;
  if (sscanf(text, "%d:%lf%c", &found.rank, &ms, &rest) != 2 || found.rank < 1 || found.rank >= ranks || !(ms > 0))
    fail("SITES_COMPUTE=%s is not RANK:MS with a rank of 1..%d", text, ranks - 1);
  found.ns = ms * 1e6;
  if (rank != found.rank) return found;
  long steps = 1 << 16;
  double took = work(steps);
  while (took < 20e6) took = work(steps *= 2);
  amount_ = (long)((double)steps * found.ns / took) + 1;
  return found;
}

void compute(struct leader* leader) { leader->last_ns = work(amount_); }
