// A rank that computes, without a call of MPI, while the others wait for a collective that it relays for them.
#ifndef URAKATA_BENCH_SITES_COMPUTE_H
#define URAKATA_BENCH_SITES_COMPUTE_H

#include <stdbool.h>

#include "ending.h"

struct delegate {
  int rank;        // < 0: nobody computes
  double ns;       // about how long
  bool computes;   // in the round that is on
  double last_ns;  // how long it did, the last time
};

// Of SITES_COMPUTE=RANK:MS; NULL is nobody. The delegate finds out how much work takes so long.
struct delegate find_delegate(const char* text, int rank, int ranks);

// A fixed amount of work, by the delegate only.
void compute(struct delegate* delegate);

#endif
