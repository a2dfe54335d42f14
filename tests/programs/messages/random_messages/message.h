/* SPDX-License-Identifier: BSD-3-Clause */
// One message: its sender fills it, and its receiver checks every byte.
#ifndef URAKATA_TESTS_RANDOM_MESSAGES_MESSAGE_H
#define URAKATA_TESTS_RANDOM_MESSAGES_MESSAGE_H

#include <mpi.h>

#include "part.h"

enum { kTags = 4, kLargest = 1500000, kHeader = 16 };

typedef struct {
  int source, dest, tag, bytes;
} Plan;

extern int largest;  // bytes of any message; kHeader or more

int size_of(Random* r);

void start_send(const Plan* plan, int number, MPI_Comm comm, Random* r, Part* part);

// The receive for one planned message, by a pattern that may have wildcards.
void start_receive(int source, int tag, MPI_Comm comm, int probes, Random* r, Part* part);

// What arrived. `numbers`: by source and tag, one more than the number of the message that came before.
void check(Part* part, int numbers[][kTags]);

#endif
