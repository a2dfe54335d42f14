/* SPDX-License-Identifier: BSD-3-Clause */
// A message's payload in memory, as it is or scattered as a derived type says, and its request.
#ifndef URAKATA_TESTS_RANDOM_MESSAGES_PART_H
#define URAKATA_TESTS_RANDOM_MESSAGES_PART_H

#include <mpi.h>
#include <stddef.h>

#include "random.h"

enum { kMostParts = 4096 };  // of a rank at once

typedef struct {
  MPI_Request request;
  MPI_Datatype type;
  int count;
  int block, *places;  // where the payload lies: blocks of `block` bytes; no places: as it is
  unsigned char* memory;
  MPI_Status status;
  int done;
} Part;

// A part for up to `bytes` payload, contiguous or of a derived type.
void shape(Part* part, int bytes, Random* r);

// Byte i of the payload.
static inline unsigned char* at(const Part* part, int i) {
  return part->memory + (part->places == NULL ? i : part->places[i / part->block] + i % part->block);
}

// The program's reference to the type ends here at the latest; often while the message is still under way.
void forget_type(Part* part);

// Gives back type and memory.
void drop(Part* part);

#endif
