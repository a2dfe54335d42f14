/* SPDX-License-Identifier: BSD-3-Clause */
// The exchange of bench/halo as one would write it for the ranks of one node alone, without messages.
#ifndef URAKATA_BENCH_HALO_BY_HAND_H
#define URAKATA_BENCH_HALO_BY_HAND_H

#include <mpi.h>
#include <stddef.h>

enum { DIMENSIONS = 3 };

// A box of doubles in an array: `size` cells in each dimension from `start` on.
struct box {
  ptrdiff_t start[DIMENSIONS], size[DIMENSIONS];
};

// For each neighbour a double buffer with sequence flags, in memory that the ranks share.
struct by_hand;

// Collective over `graph`, whose ranks are all on one node; each rank's neighbours send to it and receive from it.
// `out` and `in`: a box for each of them, in arrays with `edge` cells in each dimension. The caller gives it back to
// by_hand_free().
struct by_hand* by_hand_create(MPI_Comm graph, int neighbours, ptrdiff_t edge, const struct box* out,
                               const struct box* in);
void by_hand_exchange(struct by_hand* exchange, double* cells);
// Collective.
void by_hand_free(struct by_hand* exchange);

#endif
