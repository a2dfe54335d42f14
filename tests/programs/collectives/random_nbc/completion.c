// SPDX-License-Identifier: BSD-3-Clause
#include "completion.h"

#include <stdlib.h>

typedef void Way(MPI_Request* requests, MPI_Status* statuses, int n, Random* local);

static void by_waitall(MPI_Request* q, MPI_Status* s, int n, Random* local) {
  (void)local;
  MPI_Waitall(n, q, s);
}

static void by_wait(MPI_Request* q, MPI_Status* s, int n, Random* local) {
  int order[64];
  for (int i = 0; i < n; ++i) order[i] = i;
  shuffle(local, order, n);
  for (int i = 0; i < n; ++i) MPI_Wait(&q[order[i]], &s[order[i]]);
}

static void by_test(MPI_Request* q, MPI_Status* s, int n, Random* local) {
  int order[64];
  for (int i = 0; i < n; ++i) order[i] = i;
  int open = n;
  while (open > 0) {
    const int pick = below(local, open);
    const int i = order[pick];
    int done = 0;
    MPI_Test(&q[i], &done, &s[i]);
    if (done) order[pick] = order[--open];
  }
}

static void by_waitany(MPI_Request* q, MPI_Status* s, int n, Random* local) {
  (void)local;
  for (;;) {
    int i = 0;
    MPI_Status status;
    MPI_Waitany(n, q, &i, &status);
    if (i == MPI_UNDEFINED) return;
    s[i] = status;
  }
}

static void by_testany(MPI_Request* q, MPI_Status* s, int n, Random* local) {
  (void)local;
  for (;;) {
    int i = 0;
    int done = 0;
    MPI_Status status;
    MPI_Testany(n, q, &i, &done, &status);
    if (done && i == MPI_UNDEFINED) return;
    if (done) s[i] = status;
  }
}

static void by_testall(MPI_Request* q, MPI_Status* s, int n, Random* local) {
  (void)local;
  for (int done = 0; !done;) MPI_Testall(n, q, &done, s);
}

static void take_some(int done, const int* which, const MPI_Status* some, MPI_Status* s) {
  for (int k = 0; k < done; ++k) s[which[k]] = some[k];
}

static void by_waitsome(MPI_Request* q, MPI_Status* s, int n, Random* local) {
  (void)local;
  for (;;) {
    int done = 0;
    int which[64];
    MPI_Status some[64];
    MPI_Waitsome(n, q, &done, which, some);
    if (done == MPI_UNDEFINED) return;
    take_some(done, which, some, s);
  }
}

static void by_testsome(MPI_Request* q, MPI_Status* s, int n, Random* local) {
  (void)local;
  for (;;) {
    int done = 0;
    int which[64];
    MPI_Status some[64];
    MPI_Testsome(n, q, &done, which, some);
    if (done == MPI_UNDEFINED) return;
    take_some(done, which, some, s);
  }
}

static void by_status(MPI_Request* q, MPI_Status* s, int n, Random* local) {
  for (int i = 0; i < n; ++i) {
    int done = 0;
    while (!done) MPI_Request_get_status(q[i], &done, MPI_STATUS_IGNORE);
    if (one_in(local, 2)) {
      MPI_Test(&q[i], &done, &s[i]);
      if (!done) abort();  // it was done a moment ago
    } else {
      MPI_Wait(&q[i], &s[i]);
    }
  }
}

// A part one way, the rest at once.
static void by_parts(MPI_Request* q, MPI_Status* s, int n, Random* local) {
  const int part = below(local, n + 1);
  by_test(q, s, part, local);
  MPI_Waitall(n - part, q + part, s + part);
}

const char* complete(MPI_Request* requests, MPI_Status* statuses, int n, Random* local) {
  static const struct {
    const char* name;
    Way* way;
  } ways[] = {{"Waitall", by_waitall},       {"Wait", by_wait},         {"Test", by_test},
              {"Waitany", by_waitany},       {"Testany", by_testany},   {"Testall", by_testall},
              {"Waitsome", by_waitsome},     {"Testsome", by_testsome}, {"Request_get_status", by_status},
              {"Test and Waitall", by_parts}};
  const int pick = below(local, (int)(sizeof ways / sizeof ways[0]));
  ways[pick].way(requests, statuses, n, local);
  return ways[pick].name;
}
