/* SPDX-License-Identifier: BSD-3-Clause */
// Completing an array of requests in a random one of MPI's ways.
#ifndef URAKATA_TESTS_COMPLETION_H
#define URAKATA_TESTS_COMPLETION_H

#include <mpi.h>

#include "random.h"

// Every request of the array is complete afterwards. `statuses` gets each one's.
// Returns the name of the way taken.
const char* complete(MPI_Request* requests, MPI_Status* statuses, int n, Random* local);

#endif
