/* SPDX-License-Identifier: BSD-3-Clause */
// What all files of the program know of the job.
#ifndef URAKATA_TESTS_RANDOM_MESSAGES_JOB_H
#define URAKATA_TESTS_RANDOM_MESSAGES_JOB_H

#include <stdint.h>

extern int rank;  // of MPI_COMM_WORLD
extern uint64_t seed;

// Says what is wrong and ends the job.
void fail(const char* what, int a, int b);

#endif
