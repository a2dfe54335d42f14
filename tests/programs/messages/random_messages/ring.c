// SPDX-License-Identifier: BSD-3-Clause
#include "ring.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "message.h"

void ring(MPI_Comm comm, Random shared) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  const int bytes = size_of(&shared);
  const int open = below(&shared, 2);
  const int right = open && me == size - 1 ? MPI_PROC_NULL : (me + 1) % size;
  const int left = open && me == 0 ? MPI_PROC_NULL : (me + size - 1) % size;
  unsigned char* out = malloc((size_t)bytes);
  unsigned char* in = malloc((size_t)bytes);
  if (out == NULL || in == NULL) fail("no memory", bytes, 0);
  MPI_Status status;
  for (int replace = 0; replace < 2; ++replace) {
    memset(out, me + 1, (size_t)bytes);
    memset(in, 0xee, (size_t)bytes);
    if (replace) {
      MPI_Sendrecv_replace(out, bytes, MPI_BYTE, right, 3, left, 3, comm, &status);
    } else {
      MPI_Sendrecv(out, bytes, MPI_BYTE, right, 3, in, bytes, MPI_BYTE, left, 3, comm, &status);
    }
    if (status.MPI_SOURCE != left) fail("source of a Sendrecv", status.MPI_SOURCE, left);
    const unsigned char* got = replace ? out : in;
    const int expected = left != MPI_PROC_NULL ? left + 1 : replace ? me + 1 : 0xee;
    for (int i = 0; i < bytes; ++i) {
      if (got[i] != expected) fail("Sendrecv", got[i], expected);
    }
  }
  free(out);
  free(in);
}
