/* SPDX-License-Identifier: BSD-3-Clause */
// A ring with a Sendrecv to the right, one with its own buffer, and ends at MPI_PROC_NULL.
#ifndef URAKATA_TESTS_RANDOM_MESSAGES_RING_H
#define URAKATA_TESTS_RANDOM_MESSAGES_RING_H

#include <mpi.h>

#include "random.h"

void ring(MPI_Comm comm, Random shared);

#endif
