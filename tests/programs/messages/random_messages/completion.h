/* SPDX-License-Identifier: BSD-3-Clause */
// Completing the requests of parts in a random one of MPI's ways.
#ifndef URAKATA_TESTS_RANDOM_MESSAGES_COMPLETION_H
#define URAKATA_TESTS_RANDOM_MESSAGES_COMPLETION_H

#include "part.h"

// All requests of the n parts; their statuses are in the parts afterwards.
void complete(Part* parts, int n, Random* r);

#endif
