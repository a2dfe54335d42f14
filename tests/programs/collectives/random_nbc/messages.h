/* SPDX-License-Identifier: BSD-3-Clause */
// The program's own messages, whose requests stand in the same arrays as those of collectives. On one communicator they
// are received from anybody with any tag: a message of a collective that strayed there would be found out.
#ifndef URAKATA_TESTS_MESSAGES_H
#define URAKATA_TESTS_MESSAGES_H

#include <mpi.h>
#include <stdbool.h>

#include "random.h"

enum { kMessages = 4, kMessageBytes = 40000 };

typedef struct {
  int requests;  // of this rank, at most 2 * kMessages
  bool anybody;  // some rank receives from whoever sends; equal on all ranks
  MPI_Request request[2 * kMessages];
  bool receives[2 * kMessages];
  int source[2 * kMessages];  // expected; MPI_ANY_SOURCE where anybody may send
  unsigned char* buffer[2 * kMessages];
} Messages;

void post_messages(Messages* m, MPI_Comm exact, MPI_Comm any, Random* shared, Random* local);
bool check_messages(Messages* m, const MPI_Status* statuses);  // and frees the buffers

#endif
