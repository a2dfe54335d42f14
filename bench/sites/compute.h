/* SPDX-License-Identifier: BSD-3-Clause */
// A rank that computes, without a call of MPI, while the others wait for a collective that it relays for them.
#ifndef URAKATA_BENCH_SITES_COMPUTE_H
#define URAKATA_BENCH_SITES_COMPUTE_H

#include <stdbool.h>

#include "ending.h"

struct leader {
  int rank;        // < 0: nobody computes
  double ns;       // about how long
  bool computes;   // in the round that is on
  double last_ns;  // how long it did, the last time
};

// Of SITES_COMPUTE=RANK:MS; NULL is nobody. The site leader finds out how much work takes so long.
struct leader find_leader(const char* text, int rank, int ranks);

// A fixed amount of work, by the site leader only.
void compute(struct leader* leader);

#endif
