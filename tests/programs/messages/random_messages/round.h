/* SPDX-License-Identifier: BSD-3-Clause */
// A round of random messages on one communicator.
#ifndef URAKATA_TESTS_RANDOM_MESSAGES_ROUND_H
#define URAKATA_TESTS_RANDOM_MESSAGES_ROUND_H

#include <mpi.h>

#include "random.h"

enum { kMostRanks = 64 };

// `messages` a rank, on average; `shared` is the same on all ranks. Returns how many this rank has received.
int play_round(MPI_Comm comm, int messages, Random shared, Random* own);

#endif
