/* SPDX-License-Identifier: BSD-3-Clause */
// The communicators that random operations run on, made in every way that MPI has.
#ifndef URAKATA_TESTS_COMMUNICATORS_H
#define URAKATA_TESTS_COMMUNICATORS_H

#include <mpi.h>
#include <stdint.h>

#include "random.h"

typedef struct {
  const char* name;
  MPI_Comm comm;   // MPI_COMM_NULL on ranks that are not in it
  MPI_Comm judge;  // of the same ranks, where operations are done again, to compare
} Communicator;

// From kKnown on: made by MPI_Comm_idup, or from such a one, and so the MPI library's under Urakata.
enum { kKnown = 8, kCommunicators = 11 };

void make_communicators(Communicator* all);     // each judges itself
void let_the_library_judge(Communicator* all);  // duplicates by MPI_Comm_idup do
int random_communicator(Random* shared);        // mostly one that is known
// Under Urakata with engine kernel: an engine for each, drawn from the seed.
void choose_engines(Communicator* all, uint64_t seed);
void free_communicators(Communicator* all);

#endif
