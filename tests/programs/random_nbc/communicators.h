// The communicators that random operations run on, made in every way that MPI has.
#ifndef URAKATA_TESTS_COMMUNICATORS_H
#define URAKATA_TESTS_COMMUNICATORS_H

#include <mpi.h>
#include <stdint.h>

typedef struct {
  const char* name;
  MPI_Comm comm;  // MPI_COMM_NULL on ranks that are not in it
} Communicator;

enum { kCommunicators = 8 };

void make_communicators(Communicator* all);
// Under Urakata with engine kernel: an engine for each, drawn from the seed.
void choose_engines(Communicator* all, uint64_t seed);
void free_communicators(Communicator* all);

#endif
